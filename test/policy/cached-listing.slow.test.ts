// Listings are cached for all callers of a process, and rules differ between callers and change while a server runs:
// what a rule hides is decided for each walk.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { PolicyRule } from "../../src/engine/policy/rule.ts";
import { walk } from "../../src/engine/search/walk.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-rules-"));
  root = join(base, "root");
  mkdirSync(join(root, "secrets/deep"), { recursive: true });
  writeFileSync(join(root, "secrets/deep/plan.txt"), "");
  writeFileSync(join(root, "server.pem"), "");
  writeFileSync(join(root, "a.txt"), "");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const denying: readonly PolicyRule[] = [{ paths: ["secrets/**", "*.pem"], access: "deny" }];
const visible = ["a.txt"];
const all = ["a.txt", "secrets", "secrets/deep", "secrets/deep/plan.txt", "server.pem"];

async function paths(workspace: Workspace): Promise<string[]> {
  using directory = workspace.directory(workspace.at("."));
  const found: string[] = [];
  await walk(directory).each(({ path }) => {
    found.push(path);
    return true;
  });
  return found.sort();
}

/** A listing is cached when its directory has not changed for two seconds. */
async function cached(workspace: Workspace): Promise<void> {
  await sleep(2100);
  expect(await paths(workspace)).toEqual(all);
  expect(await paths(workspace)).toEqual(all);
}

it("a listing that one caller's walk has cached shows another caller nothing that is denied", async () => {
  const open = (name: string, rules: readonly PolicyRule[]) => {
    const policies = [new Policy(rules)];
    const state = join(base, name);
    return Workspace.open([{ path: root, access: "read-only" }], {
      state,
      rules: { current: () => policies },
    });
  };
  using free = open("free", []);
  using bound = open("bound", denying);
  await cached(free);
  expect(await paths(bound)).toEqual(visible);
  expect(await paths(free)).toEqual(all);
});

it("rules that are replaced hold for a tree that has been walked before", async () => {
  let policies = [new Policy([])];
  using workspace = Workspace.open([{ path: root, access: "read-only" }], {
    state: join(base, "state"),
    rules: { current: () => policies },
  });
  await cached(workspace);
  policies = [new Policy(denying)];
  expect(await paths(workspace)).toEqual(visible);
  policies = [new Policy([])];
  expect(await paths(workspace)).toEqual(all);
});
