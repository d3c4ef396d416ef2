// Two engines in one program share no state: what one does or caches changes nothing for the other.
import { mkdtempSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import {
  call,
  dialects,
  type Engine,
  type EngineOptions,
  listChanges,
  openEngine,
  outcomeText,
  Policy,
  Session,
  undo,
} from "../../src/index.ts";

const command = { commands: "unsandboxed" } as const;

function directory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-engines-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An engine with a history of its own. */
function engineFor(root: string, options: Partial<EngineOptions> = {}): Engine {
  const engine = openEngine({
    roots: [{ path: root, access: "read-write" }],
    state: directory(),
    ...options,
  });
  onTestFinished(() => engine[Symbol.dispose]());
  return engine;
}

async function answer(engine: Engine, name: string, params: object, context: object = {}): Promise<string> {
  return outcomeText(await call(await dialects.polyfs(), name, params, { engine, ...context }));
}

function run(engine: Engine, line: string): Promise<string> {
  return answer(engine, "run_command", { command: line }, { settings: command, session: new Session() });
}

/** What was just written may be written again within the same tick of the clock; this file is older. */
function writeOld(path: string, content: string): void {
  writeFileSync(path, content);
  const anHourAgo = Date.now() / 1000 - 3600;
  utimesSync(path, anHourAgo, anHourAgo);
}

it("each engine keeps what a command replaced in its own history, so each can undo its own command", async () => {
  const root = directory();
  writeOld(join(root, "a.txt"), "original\n");
  const [one, other] = [engineFor(root), engineFor(root)];
  await sleep(100); // the status of a file that changed just now is not remembered
  expect(await run(one, "echo new > b.txt")).toContain("b.txt");
  expect(await run(other, "echo changed > a.txt")).toContain("a.txt");
  await answer(other, "undo", {});
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("original\n");
});

it("the history of one engine has nothing of the other, and cannot undo it", async () => {
  const root = directory();
  const [one, other] = [engineFor(root), engineFor(root)];
  await answer(one, "write_file", { path: "one.txt", content: "one\n" });
  await answer(other, "write_file", { path: "other.txt", content: "other\n" });
  const [change] = await listChanges(one.workspace, { limit: 10 });
  expect((await listChanges(one.workspace, { limit: 10 })).map(({ files }) => files[0]?.at)).toEqual([
    join(root, "one.txt"),
  ]);
  expect((await listChanges(other.workspace, { limit: 10 })).map(({ files }) => files[0]?.at)).toEqual([
    join(root, "other.txt"),
  ]);
  expect(await answer(other, "undo", { changes: [change?.id] })).toMatch(/^not_found: there is no change/);
  expect(readFileSync(join(root, "one.txt"), "utf8")).toBe("one\n");
});

it("rules that one engine replaces while it runs hide names from its callers only", async () => {
  const root = directory();
  for (const name of ["plain.txt", "secret.txt"]) writeFileSync(join(root, name), "needle\n");
  let policies: Policy[] = [];
  const one = engineFor(root, { rules: { current: () => policies } });
  const other = engineFor(root, { rules: { current: () => [] } });
  const seen = (engine: Engine) =>
    Promise.all([
      answer(engine, "list_directory", {}),
      answer(engine, "find_files", { pattern: "*" }),
      answer(engine, "search_text", { pattern: "needle" }),
    ]);
  await sleep(100); // the listing of a directory that changed just now is not remembered
  for (const hidden of ["secret.txt", "plain.txt", "secret.txt"]) {
    policies = [new Policy([{ name: "hidden", paths: [hidden], access: "deny" }])];
    for (const text of await seen(other)) {
      expect(text).toContain("plain.txt");
      expect(text).toContain("secret.txt");
    }
    for (const text of await seen(one)) expect(text).not.toContain(hidden);
    for (const text of await seen(one))
      expect(text).toContain(hidden === "plain.txt" ? "secret.txt" : "plain.txt");
  }
});

it("a listener of one engine hears nothing of the other's commits", async () => {
  const root = directory();
  const [one, other] = [engineFor(root), engineFor(root)];
  const heard: string[] = [];
  one.workspace.onCommit(({ files }) => void heard.push(...files.map(({ path }) => path.given)));
  await answer(other, "write_file", { path: "other.txt", content: "" });
  await answer(one, "write_file", { path: "one.txt", content: "" });
  expect(heard).toEqual(["one.txt"]);
});

it("limits and sessions are those of the caller's engine", async () => {
  const root = directory();
  writeFileSync(join(root, "long.txt"), "line\n".repeat(100));
  const [one, other] = [engineFor(root), engineFor(root)];
  const edits = [{ old: "line\nline\n", new: "x\n", all: true }];
  const small = { settings: { maxFileBytes: 10 } };
  expect(await answer(one, "edit_file", { path: "long.txt", edits }, small)).toMatch(/^too_large: /);
  expect(await answer(other, "read_file", { path: "long.txt" })).toContain("line");
});

it("an engine that is disposed of leaves the other one at work", async () => {
  const root = directory();
  const [one, other] = [engineFor(root), engineFor(root)];
  for (const engine of [one, other]) await answer(engine, "write_file", { path: "a.txt", content: "1\n" });
  one[Symbol.dispose]();
  expect(await answer(other, "search_text", { pattern: "1" })).toContain("a.txt");
  await answer(other, "write_file", { path: "a.txt", content: "2\n" });
  const [latest] = await listChanges(other.workspace, { limit: 1 });
  await undo(other.workspace, latest && { change: latest.id });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("1\n");
});

it("what an engine remembers of its files is shared by its views, and by no other engine", () => {
  const root = directory();
  const [one, other] = [engineFor(root), engineFor(root)];
  class Remembered {}
  const remembered = ({ workspace }: Pick<Engine, "workspace">) => workspace.roots[0]?.caches.of(Remembered);
  using view = one.workspace.under({ current: () => [new Policy([])] });
  using part = one.workspace.part([{ path: root, access: "read-only" }]);
  expect(remembered({ workspace: view })).toBe(remembered(one));
  expect(remembered({ workspace: part })).toBe(remembered(one));
  expect(remembered(other)).not.toBe(remembered(one));
});
