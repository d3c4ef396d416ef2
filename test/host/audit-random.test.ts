// Random audit logs, by up to three processes that share a file, rotate it and reopen it. As written they verify; with
// any one change to them they do not.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { checkAudit, withRotated } from "../../src/host/audit-check.ts";
import { AuditLog } from "../../src/host/audit-log.ts";

/** More of them: POLYFS_AUDIT_SEEDS=1000. */
const seeds = Number(process.env.POLYFS_AUDIT_SEEDS ?? 15);

type Random = (below: number) => number;
/** The lines of each file, from the oldest. */
type Files = string[][];

function randomOf(seed: number): Random {
  const chance = new Chance(seed);
  return below => chance.below(below);
}

function open(path: string, maxBytes: number): AuditLog {
  return new AuditLog(path, {
    maxBytes,
    about: { version: "test" },
    onError: error => {
      throw error;
    },
  });
}

/** Lets processes write in turns. All end, so that each has a line in the last file. */
function write(path: string, random: Random): void {
  const maxBytes = random(2) === 0 ? 1_000_000 : 4000 + random(4000);
  const writers = Array.from({ length: 1 + random(3) }, () => open(path, maxBytes));
  for (let step = 0; step < 60; step++) {
    const at = random(writers.length);
    const writer = writers[at];
    const what = random(20);
    if (what === 0) writer?.reopen();
    else if (what === 1) {
      writer?.[Symbol.dispose]();
      writers[at] = open(path, maxBytes);
    } else if (what === 2) {
      for (let n = 0; n < 3; n++) writer?.append({ step, n }, true);
      writer?.flush();
    } else writer?.append({ step, text: "ä".repeat(random(60)) });
  }
  for (const writer of writers) writer[Symbol.dispose]();
}

function read(path: string): Files {
  return withRotated(path).map(name => readFileSync(name, "latin1").trimEnd().split("\n"));
}

const chainOf = (line: string | undefined) => /"chain":"(\w+)"/.exec(line ?? "")?.[1];

/** Changes of which each is to be found. The last line of all is left: nothing follows it. */
const changes: Record<string, (files: Files, random: Random) => Files | undefined> = {
  "a line is removed": (files, random) => {
    const { file, line } = placeIn(files, random);
    return files.with(file, files[file]?.toSpliced(line, 1) ?? []);
  },
  "two lines change places": (files, random) => {
    const { file, line } = placeIn(files, random);
    const lines = files[file] ?? [];
    const other = random(2) === 0 ? Math.min(line + 1, lines.length - 1) : random(lines.length);
    if (other === line) return undefined;
    return files.with(file, lines.with(line, lines[other] ?? "").with(other, lines[line] ?? ""));
  },
  "a byte is changed": (files, random) => {
    const { file, line } = placeIn(files, random);
    const text = files[file]?.[line] ?? "";
    const at = random(text.length);
    const byte = String.fromCharCode((text.charCodeAt(at) + 1 + random(254)) % 256);
    return files.with(file, files[file]?.with(line, text.slice(0, at) + byte + text.slice(at + 1)) ?? []);
  },
  "the last lines of a chain are cut off in a file": (files, random) => {
    const { file, line } = placeIn(files, random);
    const lines = files[file] ?? [];
    const chain = chainOf(lines[line]);
    const kept = lines.filter((text, at) => at < line || chainOf(text) !== chain);
    // Something must follow.
    const follows = kept.length > line || file < files.length - 1;
    return follows ? files.with(file, kept) : undefined;
  },
  "the first lines of a file are removed": (files, random) => {
    const { file, line } = placeIn(files, random);
    return files.with(file, files[file]?.slice(line + 1) ?? []);
  },
  "a file is emptied": (files, random) => {
    const file = random(files.length);
    return file === files.length - 1 ? undefined : files.with(file, []);
  },
};

/** Any line but the last one of all. */
function placeIn(files: Files, random: Random): { file: number; line: number } {
  for (;;) {
    const file = random(files.length);
    const line = random(files[file]?.length ?? 0);
    if (file < files.length - 1 || line < (files[file]?.length ?? 0) - 1) return { file, line };
  }
}

describe("a random audit log", () => {
  const directory = () => {
    const made = mkdtempSync(join(tmpdir(), "polyfs-audit-"));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };

  it("verifies as written, and with no single change", () => {
    for (let seed = 1; seed <= seeds; seed++) {
      const random = randomOf(seed);
      const path = join(directory(), "audit.log");
      write(path, random);
      expect([seed, checkAudit(withRotated(path)).problems]).toEqual([seed, []]);
      const names = withRotated(path);
      const whole = read(path);
      for (const [what, change] of Object.entries(changes)) {
        for (let round = 0; round < 8; round++) {
          const changed = change(whole, random);
          if (changed === undefined) continue;
          for (const [at, lines] of changed.entries())
            writeFileSync(names[at] ?? "", lines.map(line => `${line}\n`).join(""), "latin1");
          const { problems } = checkAudit(names);
          expect([seed, what, round, problems.length > 0]).toEqual([seed, what, round, true]);
        }
      }
    }
  });

  it("verifies in parts, and says so, if files were moved away at any time", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = randomOf(seed);
      const path = join(directory(), "audit.log");
      const writers = Array.from({ length: 1 + random(3) }, () => open(path, 1_000_000));
      const moved: string[] = [];
      for (let step = 0; step < 60; step++) {
        writers[random(writers.length)]?.append({ step });
        if (step % 20 !== 10) continue;
        moved.push(`${path}-${step}`);
        renameSync(path, `${path}-${step}`);
        for (let late = random(4); late > 0; late--) writers[random(writers.length)]?.append({ late });
        for (const writer of writers) writer.reopen();
      }
      for (const writer of writers) writer[Symbol.dispose]();
      for (const [at, name] of [...moved, path].entries()) {
        expect([seed, name, checkAudit([name])]).toMatchObject([
          seed,
          name,
          { problems: [], rotated: at > 0 },
        ]);
      }
      const report = checkAudit([...moved, path]);
      expect([seed, report]).toMatchObject([seed, { problems: [], notes: [], open: 0, rotated: false }]);
      expect(checkAudit([...moved.toSpliced(1, 1), path]).problems).not.toEqual([]);
    }
  });
});
