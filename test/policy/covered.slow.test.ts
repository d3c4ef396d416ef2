// A sandbox that begins while a large commit puts its files in place, and one that has more to mask than fits in memory.
import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Policy } from "../../src/engine/policy/policy.ts";
import { run } from "../../src/engine/shell/run.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { restrictedIn } from "../../src/engine/workspace/restricted.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { start } from "../mcp/wire.ts";

const found = await findSandbox();

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-covered-"));
  root = join(base, "root");
  mkdirSync(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open(): Workspace {
  const policies = [new Policy([{ paths: [".env", "*.env"], access: "mask" }])];
  return Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: { current: () => policies },
  });
}

const names = [...Array.from({ length: 2000 }, (_, i) => `${i}.txt`), "last.env"];

/** Runs a command as soon as the first file of a commit is there and the last is not. */
async function seenMeanwhile(workspace: Workspace, commit: Promise<unknown>): Promise<string> {
  if ("missing" in found) return "";
  const isWritten = (name = "") => readFileSync(join(root, name), "utf8") === "TOKEN=CANARY2\n";
  while (!isWritten(names[0])) await setImmediate();
  expect(isWritten(names.at(-1))).toBe(false);
  using directory = workspace.directory(workspace.at("."));
  const running = run("for i in $(seq 40); do cat last.env; sleep 0.05; done", {
    directory,
    sandbox: openSandbox(found, { workspace, network: false }),
    environment: { PATH: process.env.PATH ?? "" },
    keep: { head: 10_000, tail: 0 },
    timeoutMs: 50_000,
  });
  const [{ stdout }] = await Promise.all([running, commit]);
  expect(isWritten(names.at(-1))).toBe(true);
  return stdout.head;
}

describe.skipIf("missing" in found)(
  "a command that begins while a large commit puts its files in place is not shown what it must not see",
  () => {
    beforeEach(() => {
      for (const name of names) writeFileSync(join(root, name), "TOKEN=CANARY1\n");
    });

    it("in one server", async () => {
      using workspace = open();
      const bytes = Buffer.from("TOKEN=CANARY2\n");
      const changes = names.map((name): Change => ({ kind: "write", path: workspace.at(name), bytes }));
      const seen = await seenMeanwhile(workspace, workspace.commit(changes));
      expect(seen).toContain("TOKEN=••••");
      expect(seen).not.toContain("CANARY");
      await workspace.settled();
    });

    it("in two servers", async () => {
      using workspace = open();
      await using other = await start({
        dialect: "polyfs",
        roots: [root],
        args: ["--policy", "none", "--state-dir", join(base, "state")],
      });
      await other.initialize();
      const files = names.map(name => `*** Update File: ${name}\n@@\n-TOKEN=CANARY1\n+TOKEN=CANARY2`);
      const patch = `*** Begin Patch\n${files.join("\n")}\n*** End Patch`;
      const seen = await seenMeanwhile(workspace, other.call("apply_patch", { patch }));
      expect(seen).toContain("TOKEN=••••");
      expect(seen).not.toContain("CANARY");
      await workspace.settled();
    });
  },
);

it("masked texts take no more than 64 MB together; files beyond that are not shown", async () => {
  const line = "KEY=value value value value value\n";
  writeFileSync(join(base, "one"), line.repeat(Math.floor((1024 * 1024) / line.length)));
  for (let i = 0; i < 160; i++) linkSync(join(base, "one"), join(root, `${i}.env`));
  using workspace = open();
  const covered = await restrictedIn(workspace);
  const texts = covered.flatMap(({ seen }) => (typeof seen === "string" ? [] : [seen.length]));
  expect(texts.length).toBeGreaterThan(50);
  expect(texts.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(covered.filter(({ seen }) => seen === "nothing").length).toBe(160 - texts.length);
  for (const one of covered) one[Symbol.dispose]();
});
