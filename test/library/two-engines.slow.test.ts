// Two engines of one program: what one of them does, learns or is told changes nothing for the other.
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
  openEngine,
  outcomeText,
  Session,
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
