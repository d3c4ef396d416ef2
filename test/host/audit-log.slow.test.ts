// The audit log's chain: whatever is done to its lines is found, and what polyfs does itself is not.
import { execFileSync } from "node:child_process";
import { createHash, hash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { checkAudit, withRotated } from "../../src/host/audit-check.ts";
import { AuditLog } from "../../src/host/audit-log.ts";
import { fill, mountSmall } from "../commit/small-disk.ts";

let path: string;
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-audit-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  path = join(directory, "audit.log");
});

function open(maxBytes = 1_000_000): AuditLog {
  return new AuditLog(path, {
    maxBytes,
    about: { version: "test" },
    onError: error => {
      throw error;
    },
  });
}

/** Three processes, one after the other, with some calls each. */
function written(): string[] {
  for (let round = 0; round < 3; round++) {
    using log = open();
    for (let n = 0; n < 4; n++) log.append({ event: "call", round, n, text: "ä\u2028" });
  }
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

function problemsOf(lines: readonly string[]): number {
  writeFileSync(path, lines.map(line => `${line}\n`).join(""));
  return checkAudit(withRotated(path)).problems.length;
}

describe("an audit log that is full", () => {
  it.each([
    ["the claim is a directory", () => mkdirSync(`${path}.lock`)],
    ["an old file is a directory", () => mkdirSync(`${path}.5/x`, { recursive: true })],
  ])("and cannot be rotated, because %s, grows and keeps all lines", (_, make) => {
    for (let age = 1; age <= 4; age++) writeFileSync(`${path}.${age}`, "");
    make();
    utimesSync(`${path}.${existsSync(`${path}.lock`) ? "lock" : "5"}`, 0, 0);
    const told: unknown[] = [];
    const options = { maxBytes: 2000, about: {}, onError: (error: unknown) => told.push(error) };
    {
      using log = new AuditLog(path, { ...options, onUnrotated: () => told.push("unrotated") });
      for (let n = 0; n < 40; n++) log.append({ event: "call", n });
    }
    expect(told).toEqual(["unrotated"]);
    expect(readFileSync(path, "utf8").match(/"event":"call"/g)).toHaveLength(40);
    expect(checkAudit([path]).problems).toEqual([]);
  });

  it("and whose name becomes a pipe while it is open keeps its lines until there is a file again", () => {
    const told: unknown[] = [];
    const onError = (error: unknown) => told.push(error);
    {
      using log = new AuditLog(path, { maxBytes: 1e6, about: {}, onError });
      renameSync(path, `${path}.moved`);
      execFileSync("mkfifo", [path]);
      log.reopen();
      for (let n = 0; n < 1000; n++) log.append({ event: "call", n, text: "x".repeat(200) });
      expect(told).toHaveLength(1);
      rmSync(path);
      log.reopen();
    }
    expect(readFileSync(path, "utf8").match(/"event":"call"/g)).toHaveLength(1000);
    expect(checkAudit([`${path}.moved`, path]).problems).toEqual([]);
  });
});

describe("an audit log", () => {
  it("verifies as written, by one process after the other", () => {
    expect(written()).toHaveLength(18);
    expect(checkAudit(withRotated(path))).toMatchObject({
      lines: 18,
      chains: 3,
      open: 0,
      problems: [],
      rotated: false,
    });
  });

  it("verifies after several processes wrote at once", () => {
    using first = open();
    using second = open();
    for (let n = 0; n < 20; n++) (n % 3 === 0 ? first : second).append({ n });
    first.reopen();
    second.reopen();
    expect(checkAudit(withRotated(path))).toMatchObject({ chains: 2, open: 2, problems: [] });
  });

  it("has an entry at once, and one that may wait with the next, when it is flushed, or in the next turn", async () => {
    using log = open();
    const numbers = () => [...readFileSync(path, "utf8").matchAll(/"n":(\d)/g)].map(([, n]) => Number(n));
    log.append({ n: 1 }, true);
    expect(numbers()).toEqual([]);
    log.append({ n: 2 });
    expect(numbers()).toEqual([1, 2]);
    log.append({ n: 3 }, true);
    log.flush();
    expect(numbers()).toEqual([1, 2, 3]);
    log.append({ n: 4 }, true);
    await new Promise(resolve => setImmediate(resolve));
    expect(numbers()).toEqual([1, 2, 3, 4]);
    for (let n = 0; n < 200; n++) log.append({ n: 5 }, true);
    expect(numbers()).toHaveLength(204);
    expect(checkAudit(withRotated(path))).toMatchObject({ lines: 205, problems: [] });
  });

  it("has the time of each entry, to the millisecond", async () => {
    const before = Date.now();
    using log = open();
    for (let n = 0; n < 30; n++) {
      log.append({ n });
      await new Promise(resolve => setTimeout(resolve, 40)); // into the next second
    }
    log.reopen();
    const times = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line).time as string);
    const instants = times.map(time => Date.parse(time));
    expect(instants.map(instant => new Date(instant).toISOString())).toEqual(times);
    expect(instants).toEqual(instants.toSorted((a, b) => a - b));
    expect(instants.every(instant => instant >= before && instant <= Date.now())).toBe(true);
  });

  it("verifies after rotation, even if the oldest lines are gone", async () => {
    {
      using log = open(3000);
      for (let n = 0; n < 200; n++) {
        log.append({ n });
        if (n % 7 === 0) log.reopen();
      }
    }
    expect(checkAudit(withRotated(path))).toMatchObject({ open: 0, problems: [], rotated: true });
  });

  it("continues in a new file after the old one was moved away", () => {
    using log = open();
    log.append({ n: 1 });
    log.reopen();
    renameSync(path, `${path}.1`);
    log.reopen();
    log.append({ n: 2 });
    log.reopen();
    expect(checkAudit(withRotated(path))).toMatchObject({ lines: 6, problems: [] });
    renameSync(`${path}.1`, `${path}.old`);
    expect(checkAudit(withRotated(path))).toMatchObject({ lines: 3, problems: [] });
  });

  it("verifies after a restart, however long its last line was", () => {
    for (const length of [1, 65_535, 65_536, 300_000, 3_000_000]) {
      const log = open(100_000_000);
      log.append({ changes: "x".repeat(length) });
      log.reopen();
      const killed = readFileSync(path, "utf8").split("\n").slice(0, -2); // without the line of `reopen`
      log[Symbol.dispose]();
      writeFileSync(path, killed.map(line => `${line}\n`).join(""));
      open(100_000_000)[Symbol.dispose]();
      expect(checkAudit(withRotated(path)).problems).toEqual([]);
    }
  });

  it("begins a new line after one that a killed process has left half written", () => {
    written();
    const before = readFileSync(path, "utf8");
    writeFileSync(path, `${before}{"chain":"abc","seq":1,"ti`);
    {
      using log = open();
      log.append({ n: 1 });
    }
    expect(checkAudit(withRotated(path))).toMatchObject({
      lines: 22,
      problems: [expect.stringContaining(":19: not a complete line")],
    });
    writeFileSync(path, '{"half'); // with nothing before it
    open()[Symbol.dispose]();
    expect(checkAudit(withRotated(path))).toMatchObject({
      lines: 3,
      problems: [expect.stringContaining(":1: not a complete line")],
    });
  });

  it("begins a new line also if another process is killed in the middle of one while this one writes", () => {
    using log = open();
    log.append({ n: 1 });
    appendFileSync(path, '{"chain":"abc","seq":1,"ti');
    log.append({ n: 2 });
    log.append({ n: 3 });
    expect(checkAudit([path])).toMatchObject({
      lines: 5,
      chains: 1,
      problems: [expect.stringContaining(":3: not a complete line")],
    });
  });

  it("has no character that ends a line, moves a cursor or turns text around, whatever a name holds", () => {
    const name = "a\n\r\v\f\u0085\u009b2J\u007f\u2028\u2029\u202e\u2066\u200f\ud800z\ud83d\ude00ä";
    using log = open();
    log.append({ name });
    log.reopen();
    const text = readFileSync(path, "utf8");
    expect(text).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
    expect(JSON.parse(text.split("\n")[1] ?? "")).toMatchObject({ name });
    expect(checkAudit(withRotated(path)).problems).toEqual([]);
  });

  describe("on a full disk", () => {
    const errors: unknown[] = [];
    /** Appends entries one by one until the disk is full, nearly always in the middle of a line, and some more. */
    async function filledUp(disk: string): Promise<AuditLog> {
      path = join(disk, "audit.log");
      errors.length = 0;
      const log = new AuditLog(path, { maxBytes: 1e6, about: {}, onError: error => errors.push(error) });
      fill(disk);
      for (let n = 0; n < 40; n++) {
        log.append({ n, text: "x".repeat(200) });
        await new Promise(resolve => setImmediate(resolve));
      }
      expect(errors).toHaveLength(1);
      return log;
    }
    const noMount = "needs permission to mount a file system";

    it("keeps new lines, and writes them when there is space again", async ({ skip }) => {
      const disk = join(dirname(path), "disk");
      await using mount = mountSmall(disk, "64k");
      skip(!mount.mounted, noMount);
      using _log = await filledUp(disk);
      rmSync(join(disk, "ballast"));
      await expect.poll(() => readFileSync(path, "utf8").split("\n").length).toBe(42);
      expect(checkAudit(withRotated(path))).toMatchObject({ lines: 41, problems: [] });
      expect(errors).toHaveLength(1);
    });

    it("has whole lines in both files if it is moved away", async ({ skip }) => {
      const disk = join(dirname(path), "disk");
      await using mount = mountSmall(disk, "64k");
      skip(!mount.mounted, noMount);
      using log = await filledUp(disk);
      renameSync(path, `${path}.1`);
      rmSync(join(disk, "ballast"));
      await new Promise(resolve => setTimeout(resolve, 200)); // until it looks at its name again
      log.reopen();
      log.reopen();
      expect(readFileSync(`${path}.1`, "utf8").endsWith("\n")).toBe(true);
      expect(checkAudit(withRotated(path)).problems).toEqual([]);
    });

    it("leaves no partial line that another process would write into", async ({ skip }) => {
      const disk = join(dirname(path), "disk");
      await using mount = mountSmall(disk, "64k");
      skip(!mount.mounted, noMount);
      using _log = await filledUp(disk);
      expect(readFileSync(path, "utf8").endsWith("\n")).toBe(true);
      rmSync(join(disk, "ballast"));
      {
        using _other = new AuditLog(path, { maxBytes: 1e6, about: {}, onError: () => {} });
      }
      const lines = () => readFileSync(path, "utf8").split("\n").length;
      await expect.poll(lines, { timeout: 60_000 }).toBe(44);
      expect(checkAudit(withRotated(path))).toMatchObject({ lines: 43, chains: 2, problems: [] });
    });

    it("writes nothing after it was closed", async ({ skip }) => {
      const disk = join(dirname(path), "disk");
      await using mount = mountSmall(disk, "64k");
      skip(!mount.mounted, noMount);
      (await filledUp(disk))[Symbol.dispose]();
      // It gets the descriptor that the log had.
      const other = openSync(join(dirname(disk), "other"), "w+");
      onTestFinished(() => closeSync(other));
      await new Promise(resolve => setTimeout(resolve, 1500));
      expect(fstatSync(other).size).toBe(0);
    });
  });

  it("says in the next line that it was deleted or cut while its process ran", () => {
    for (const [what, harm] of [
      ["deleted", () => rmSync(path)],
      ["cut", () => writeFileSync(path, "")],
      ["cut", () => truncateSync(path, 700)],
    ] as const) {
      const log = open();
      onTestFinished(() => log[Symbol.dispose]());
      for (let n = 0; n < 5; n++) log.append({ n });
      const whole = readFileSync(path);
      harm();
      log.reopen();
      log.append({ n: 5 });
      const { problems } = checkAudit([path]);
      expect(problems.filter(problem => problem.includes("missing"))).toEqual([
        expect.stringContaining(`the file that held them was ${what}`),
      ]);
      // A copy from before has the lines.
      writeFileSync(`${path}.copy`, whole);
      if (problems.length === 1) expect(checkAudit([`${path}.copy`, path]).problems).toEqual([]);
      path += "+"; // the line of its end goes into the old one
    }
  });

  it("says that it was deleted also where old files are kept, and not if rotation has dropped it", async () => {
    const idle = open();
    using busy = open(1500);
    for (let n = 0; n < 60; n++) busy.append({ n });
    idle[Symbol.dispose]();
    expect(checkAudit(withRotated(path))).toMatchObject({ problems: [], rotated: true });
    await new Promise(resolve => setTimeout(resolve, 1200)); // so that the old files are older than the next line
    busy.append({ n: 60 });
    rmSync(path);
    busy.reopen();
    expect(checkAudit(withRotated(path)).problems).toEqual([expect.stringContaining("was deleted")]);
  });

  it("reports a chain that was put in, with no place in the file, wherever that is", () => {
    const lines = written();
    const forged = lines[1]?.replace(/"chain":"\w+","seq":\d+/, '"chain":"0123456789ab","seq":1') ?? "";
    for (let at = 0; at <= lines.length; at++)
      expect([at, problemsOf(lines.toSpliced(at, 0, forged)) > 0]).toEqual([at, true]);
  });

  it("says how many problems there are besides the first", () => {
    written();
    appendFileSync(path, "nothing\n".repeat(50));
    const { problems } = checkAudit([path]);
    expect([problems.length, problems.at(-1)]).toEqual([21, "and 30 more"]);
  });

  it("has no line over 8 KB, whatever callers send, and says what was left out", () => {
    const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
    const control = "\u0001".repeat(50_000);
    const many = Array.from({ length: 3000 }, (_, n) => `d/${n}`);
    {
      using log = open();
      log.append({ event: "call", tool: "read_file", paths: [control] });
      log.append({ event: "call", tool: "read_files", paths: many });
      log.append({ event: "call", text: "\u4e16\u{1f600}".repeat(2000) });
      log.append({ event: "call", about: { a: [control, control], b: control }, c: control, d: many, e: 7 });
      log.append(Object.fromEntries(many.slice(0, 30).map(name => [name, control])));
    }
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    expect(lines.map(line => Buffer.byteLength(line) <= 8192)).toEqual(lines.map(() => true));
    const [, long, list, wide, mixed] = lines.map(line => JSON.parse(line));
    expect(long).toMatchObject({
      tool: "read_file",
      paths: [{ characters: 50_000, sha256: sha256(control) }],
    });
    expect(control.startsWith(long.paths[0].text) && long.paths[0].text.length > 100).toBe(true);
    const { more, sha256: ofAll } = list.paths.at(-1);
    expect(list.paths.slice(0, -1)).toEqual(many.slice(0, 3000 - more));
    expect([ofAll, more < 2900]).toEqual([sha256(JSON.stringify(many)), true]);
    expect(wide.text).toMatchObject({
      characters: 6000,
      text: expect.stringMatching(/^(\u4e16\u{1f600})+\u4e16?$/u),
    });
    expect(mixed).toMatchObject({ c: { characters: 50_000 }, e: 7 });
    expect(checkAudit([path]).problems).toEqual([]);
  });

  it("has the changes of a call completely, however many", () => {
    const changes = Array.from({ length: 3000 }, (_, n) => ({ id: `c${n}`, files: [{ at: `/d/${n}` }] }));
    using log = open();
    log.append({ event: "call", paths: ["\u0001".repeat(50_000)], changes });
    const [, line = ""] = readFileSync(path, "utf8").split("\n");
    expect(JSON.parse(line)).toMatchObject({ paths: [{ characters: 50_000 }], changes });
  });

  it("has no token, wherever a caller puts one", () => {
    const own = `pfs_${"aB3_-".repeat(9)}`.slice(0, 47);
    const jwt = `eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbm4iLCJleHAiOjF9.${"s-_9".repeat(20)}`;
    {
      using log = open();
      for (const token of [own, jwt])
        log.append({
          paths: [`a.b.${token}`, `/mcp/${token}`, `x\n${token}`, `file:///a?token=${token}`, `b/${token}/c`],
          tool: token,
          reason: `unknown token "${token}"`,
          origin: `https://${token}@example.org/`,
        });
      log.append({
        uri: "https://ann:hunter2@example.org/a@b",
        paths: ["src/eyJ.test.ts", "a:b@c", "pfs_notes"],
      });
    }
    const text = readFileSync(path, "utf8");
    for (const secret of [own.slice(4, 20), ...jwt.split("."), "hunter2"]) expect(text).not.toContain(secret);
    // A file may have such a name: which one it was can be told.
    for (const token of [own, jwt])
      expect(text).toContain(
        `${token.slice(0, 3)}${token === own ? "_" : ""}***${hash("sha256", token).slice(0, 12)}`,
      );
    const entry = JSON.parse(text.split("\n")[3] ?? "");
    expect(entry).toMatchObject({
      uri: "https://***@example.org/a@b",
      paths: ["src/eyJ.test.ts", "a:b@c", "pfs_notes"],
    });
  });

  it("reports each line that was taken out, but for the last", () => {
    const lines = written();
    for (let at = 0; at < lines.length - 1; at++)
      expect([at, problemsOf(lines.toSpliced(at, 1)) > 0]).toEqual([at, true]);
    // Nor can whole chains be taken out, but for the last.
    for (const at of [0, 6]) expect(problemsOf(lines.toSpliced(at, 6))).toBeGreaterThan(0);
  });

  it("reports each two lines that changed places", () => {
    const lines = written();
    for (let a = 0; a < lines.length; a++)
      for (let b = a + 1; b < lines.length; b++) {
        const swapped = lines.with(a, lines[b] ?? "").with(b, lines[a] ?? "");
        expect([a, b, problemsOf(swapped) > 0]).toEqual([a, b, true]);
      }
  });

  it("reports each line that was changed, put in or written twice", () => {
    const lines = written();
    for (const [at, line] of lines.entries()) {
      expect([at, problemsOf(lines.toSpliced(at, 0, line)) > 0]).toEqual([at, true]);
      if (at === lines.length - 1) continue;
      for (const changed of [
        line.replace("time", "Time"),
        line.replace(/\d/, "x"),
        line.slice(1),
        `${line} `,
        "",
      ])
        expect([at, changed, problemsOf(lines.with(at, changed)) > 0]).toEqual([at, changed, true]);
    }
  });
});
