// While a command runs in the sandbox, no commit takes the cover off a file that the command must not see.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import { run } from "../../src/engine/shell/run.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { restrictedIn } from "../../src/engine/workspace/restricted.ts";
import { Rules } from "../../src/engine/workspace/rules.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { fill, mountSmall } from "../commit/small-disk.ts";

const found = await findSandbox();

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-covered-"));
  root = join(base, "root");
  mkdirSync(join(root, "sub"), { recursive: true });
  mkdirSync(join(root, "migrations"));
  for (const name of [".env", "sub/.env"]) writeFileSync(join(root, name), "TOKEN=CANARY\n");
  writeFileSync(join(root, "migrations/1.sql"), "one\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open(): Workspace {
  const policies = [
    new Policy([
      { paths: [".env", "*.env"], access: "mask" },
      { paths: ["migrations/**"], ask: ["write"] },
    ]),
  ];
  return Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: { current: () => policies, grants: () => [{ at: root, question: "write" }] },
  });
}

/** As a caller whose token has other rules, or a server that was started without any. */
function openWithoutRules(): Workspace {
  return Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
}

describe.skipIf("missing" in found)("while a command runs", () => {
  it.each([
    ["under the same rules", open],
    ["under no rules", openWithoutRules],
  ])(
    "no caller %s replaces, moves, creates or deletes a path that is hidden from it",
    async (_, openOther) => {
      if ("missing" in found) return;
      using workspace = open();
      using other = openOther();
      using directory = workspace.directory(workspace.at("."));
      const sandbox = openSandbox(found, { workspace, network: false });
      let begun = () => {};
      const hasBegun = new Promise<void>(resolve => (begun = resolve));
      const command =
        "echo begun; until test -e go; do sleep 0.05; done; cat .env sub/.env new.env copy.env moved/.env; ls -A";
      const running = run(command, {
        directory,
        sandbox,
        environment: { PATH: process.env.PATH ?? "" },
        keep: { head: 10_000, tail: 0 },
        timeoutMs: 50_000,
        sink: () => begun(),
      });
      await hasBegun;
      const at = (path: string) => other.at(path);
      const bytes = Buffer.from("TOKEN=CANARY2\n");
      const changes: Change[] = [
        { kind: "write", path: at(".env"), bytes },
        { kind: "write", path: at("new.env"), bytes },
        { kind: "copy", from: at(".env"), to: at("copy.env") },
        { kind: "move", from: at(".env"), to: at("moved.env") },
        { kind: "move", from: at("sub"), to: at("moved") },
        { kind: "copy", from: at("sub"), to: at("copied") },
        { kind: "move", from: at("migrations"), to: at("moved") },
        { kind: "remove", path: at("sub"), recursive: true },
      ];
      for (const change of changes) {
        const refused = await other.commit([change]).catch((error: unknown) => error);
        expect(Fault.is(refused, "locked") && refused.data.by, JSON.stringify(change.kind)).toBe("command");
      }
      await other.commit([{ kind: "write", path: at("migrations/1.sql"), bytes: Buffer.from("two\n") }]);
      await other.commit([{ kind: "write", path: at("go"), bytes: Buffer.from("") }]);
      const { stdout } = await running;
      expect(stdout.head).toContain("TOKEN=••••");
      expect(stdout.head).not.toContain("CANARY");
      await other.commit([{ kind: "write", path: at(".env"), bytes }]);
      expect(readFileSync(join(root, ".env"), "utf8")).toBe("TOKEN=CANARY2\n");
      await other.settled();
    },
  );

  it("a file that it must not see whatever the rules say is not replaced, moved or created", async () => {
    if ("missing" in found) return;
    using workspace = openWithoutRules();
    mkdirSync(join(root, ".cargo"));
    writeFileSync(join(root, ".cargo/credentials.toml"), "CANARY");
    writeFileSync(join(root, "npm"), "CANARY");
    symlinkSync("npm", join(root, ".npmrc"));
    const places = [".cargo/credentials.toml", ".npmrc", ".netrc"].map(name => join(root, name));
    using hidden = new HiddenPlaces([...places, join(base, ".pypirc")]);
    using directory = workspace.directory(workspace.at("."));
    const sandbox = openSandbox(found, { workspace, network: false, hidden });
    let begun = () => {};
    const hasBegun = new Promise<void>(resolve => (begun = resolve));
    const running = run(
      "echo begun; until test -e go; do sleep 0.05; done; cat .cargo/* .npmrc npm .netrc moved/*",
      {
        directory,
        sandbox,
        environment: { PATH: process.env.PATH ?? "" },
        keep: { head: 10_000, tail: 0 },
        timeoutMs: 50_000,
        sink: () => begun(),
      },
    );
    await hasBegun;
    const at = (path: string) => workspace.at(path);
    const bytes = Buffer.from("CANARY2");
    const changes: Change[] = [
      { kind: "write", path: at(".cargo/credentials.toml"), bytes },
      { kind: "write", path: at("npm"), bytes },
      { kind: "write", path: at(".netrc"), bytes },
      { kind: "move", from: at(".cargo"), to: at("moved") },
    ];
    for (const change of changes) {
      const refused = await workspace.commit([change]).catch((error: unknown) => error);
      expect(Fault.is(refused, "locked") && refused.data.by, JSON.stringify(change.kind)).toBe("command");
    }
    await workspace.commit([{ kind: "write", path: at(".cargo/config.toml"), bytes: Buffer.from("") }]);
    writeFileSync(join(root, "go"), "");
    expect((await running).stdout.head).not.toContain("CANARY");
    await workspace.settled();
  });

  it("its covers stay also where the directory was renamed after it was granted", async () => {
    if ("missing" in found) return;
    using workspace = open();
    using other = openWithoutRules();
    renameSync(root, join(base, "renamed"));
    using _running = workspace.announceSandbox();
    const bytes = Buffer.from("TOKEN=CANARY2\n");
    const written = other.commit([{ kind: "write", path: other.at(".env"), bytes }]);
    await expect(written).rejects.toMatchObject({ code: "locked" });
    await other.commit([{ kind: "write", path: other.at("a.txt"), bytes }]);
    await other.settled();
  });

  it("a path stays hidden from processes that it has left in the background", async () => {
    if ("missing" in found) return;
    using workspace = open();
    using directory = workspace.directory(workspace.at("."));
    await run("(until test -e go; do sleep 0.05; done; cat .env > seen; : > ended) > /dev/null 2>&1 &", {
      directory,
      sandbox: openSandbox(found, { workspace, network: false }),
      environment: { PATH: process.env.PATH ?? "" },
      keep: { head: 10_000, tail: 0 },
      timeoutMs: 50_000,
      leftovers: "keep",
    });
    const write = () =>
      workspace.commit([
        { kind: "write", path: workspace.at(".env"), bytes: Buffer.from("TOKEN=CANARY2\n") },
      ]);
    const refused = await write().catch((error: unknown) => error);
    expect(Fault.is(refused, "locked") && refused.data.by).toBe("command");
    writeFileSync(join(root, "go"), "");
    await vi.waitFor(() => expect(existsSync(join(root, "ended"))).toBe(true), { timeout: 60_000 });
    expect(readFileSync(join(root, "seen"), "utf8")).toContain("TOKEN=••••");
    await vi.waitFor(write, { timeout: 60_000 });
    await workspace.settled();
  });

  it("processes that it has left in the background keep no file open here for each path that they must not see", async () => {
    if ("missing" in found) return;
    for (let i = 0; i < 100; i++) {
      mkdirSync(join(root, `package${i}`));
      writeFileSync(join(root, `package${i}/.env`), "TOKEN=CANARY\n");
    }
    using workspace = open();
    using directory = workspace.directory(workspace.at("."));
    const grant = { ended: false, use: () => ({ [Symbol.dispose]() {} }) };
    const before = readdirSync("/proc/self/fd").length;
    await run("sleep 1000 > /dev/null 2>&1 &", {
      directory,
      sandbox: openSandbox(found, { workspace, network: false }),
      environment: { PATH: process.env.PATH ?? "" },
      keep: { head: 10_000, tail: 0 },
      leftovers: "keep",
      grant,
    });
    const sandboxes = () => readdirSync(join(base, "state/sandboxes")).length;
    expect(sandboxes()).toBe(1);
    expect(readdirSync("/proc/self/fd").length - before).toBeLessThan(50);
    grant.ended = true;
    await vi.waitFor(() => expect(sandboxes()).toBe(0), { timeout: 60_000 });
  });

  it("a command whose sandbox cannot be announced is refused, because other servers could uncover files", async ({
    skip,
  }) => {
    if ("missing" in found) return;
    await using mount = mountSmall(join(base, "state"));
    skip(!mount.mounted, "needs permission to mount a file system");
    using workspace = open();
    using directory = workspace.directory(workspace.at("."));
    await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from("a") }]);
    await workspace.settled();
    fill(join(base, "state"));
    const refused = await run("touch ran", {
      directory,
      sandbox: openSandbox(found, { workspace, network: false }),
      environment: { PATH: process.env.PATH ?? "" },
      keep: { head: 10_000, tail: 0 },
      timeoutMs: 50_000,
    }).catch((error: unknown) => error);
    expect(Fault.is(refused, "no_space")).toBe(true);
    expect(existsSync(join(root, "ran"))).toBe(false);
    expect(readdirSync(join(base, "state/sandboxes"))).toEqual([]);
  });
});

it("where nothing is covered, no sandbox is announced, so its command waits for no commit", () => {
  using workspace = open();
  using other = openWithoutRules();
  using announced = workspace.announceSandbox();
  expect(announced).toBeDefined();
  expect(other.announceSandbox()).toBeUndefined();
});

it("a command that begins while a caller under no rules writes is not shown what it must not see", async () => {
  using workspace = open();
  using other = openWithoutRules();
  const bytes = Buffer.from("TOKEN=CANARY2\n");
  const changes: Change[] = [
    { kind: "write", path: other.at(".env"), bytes },
    { kind: "move", from: other.at("sub"), to: other.at("moved") },
  ];
  for (const change of changes) {
    const running: (Disposable | undefined)[] = [];
    const confirm = async () => {
      if (running.length === 0) running.push(workspace.announceSandbox());
    };
    const refused = await other.commit([change], { confirm }).catch((error: unknown) => error);
    expect(Fault.is(refused, "locked") && refused.data.by).toBe("command");
    running[0]?.[Symbol.dispose]();
    await other.commit([change]);
  }
  await other.settled();
});

it("a caller under no rules may write what no path of a running command leads to", async () => {
  using workspace = Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: { current: () => [new Policy([{ paths: ["sub/**"], access: "deny" }])] },
  });
  using other = openWithoutRules();
  using _running = workspace.announceSandbox();
  const at = (path: string) => other.at(path);
  for (const path of ["sub/.env", ".env", "sub/new"])
    await other.commit([{ kind: "write", path: at(path), bytes: Buffer.from("TOKEN=CANARY2\n") }]);
  const moved = other.commit([{ kind: "move", from: at("sub"), to: at("moved") }]);
  await expect(moved).rejects.toMatchObject({ code: "locked" });
  await other.settled();
});

it("the rules of many commands are compiled once", async () => {
  using workspace = open();
  using other = openWithoutRules();
  const read = vi.spyOn(Rules, "read");
  for (let i = 0; i < 5; i++) {
    using _running = workspace.announceSandbox();
    await other.commit([{ kind: "write", path: other.at(`${i}.txt`), bytes: Buffer.from("") }]);
  }
  expect(read).toHaveBeenCalledTimes(1);
  read.mockRestore();
  await other.settled();
});

it("a walk that finds more than a sandbox can cover ends there, with nothing left open", async () => {
  for (let i = 0; i < 50; i++) writeFileSync(join(root, `${i}.env`), "");
  using workspace = open();
  const before = readdirSync("/proc/self/fd").length;
  const refused = await restrictedIn(workspace, 20).catch((error: unknown) => error);
  expect(Fault.is(refused, "no_sandbox") && refused.data).toEqual({
    problem: { is: "too_many_paths", paths: 21 },
  });
  expect(readdirSync("/proc/self/fd").length).toBeLessThanOrEqual(before);
});

it("what a sandbox must cover in a tree of many files is found while others are served", async () => {
  for (let i = 0; i < 5; i++) {
    mkdirSync(join(root, `d${i}`));
    for (let j = 0; j < 1000; j++) writeFileSync(join(root, `d${i}/${j}.env.txt`), "");
  }
  using workspace = open();
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const covered = await restrictedIn(workspace);
  isOver = true;
  expect(turns).toBeGreaterThan(0);
  expect(covered.map(({ handle }) => handle.whereabouts().slice(root.length + 1)).sort()).toEqual([
    ".env",
    "sub/.env",
  ]);
  for (const one of covered) one[Symbol.dispose]();
});
