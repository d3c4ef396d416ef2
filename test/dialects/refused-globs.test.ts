// A call that is refused for its glob leaves no descriptor open: a client may send any number of them.
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { call } from "../../src/contract/call.ts";
import { Session } from "../../src/contract/session.ts";
import { defaultSettings } from "../../src/contract/settings.ts";
import { dialects } from "../../src/dialects/index.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { Tree } from "../search/tree.ts";
import { hasProc } from "../setup/proc.ts";

const broken = "[";

it.runIf(hasProc).each([
  ["polyfs", "search_text", { pattern: "x", glob: broken }],
  ["polyfs", "find_files", { pattern: broken }],
  ["fs", "fs.search_text", { query: "x", include_globs: [broken] }],
  ["fs", "fs.search_text", { query: "x", exclude_globs: [broken] }],
  ["fs", "fs.list_files", { recursive: true, include_globs: [broken] }],
  ["replay", "grep_files", { regex: "x", globs: [broken] }],
  ["replay", "glob_search", { directory: ".", globs: [broken] }],
  ["agent-tools", "grep", { pattern: "x", glob: broken }],
  ["agent-tools", "glob", { pattern: broken }],
])("%s %s with %j", async (name, tool, args) => {
  using tree = new Tree({ "a.txt": "a\n" });
  using engine = openEngine({ roots: [{ path: tree.path, access: "read-only" }] });
  const context = {
    engine,
    workspace: engine.workspace,
    settings: defaultSettings,
    session: new Session(),
    revision: "2025-06-18",
    signal: new AbortController().signal,
    progress: () => undefined,
  } as const;
  const dialect = await dialects[name]?.();
  if (dialect === undefined) throw new Error(name);
  const open = () => readdirSync("/proc/self/fd").length;
  await call(dialect, tool, args, context);
  const before = open();
  for (let i = 0; i < 20; i++) await call(dialect, tool, args, context);
  expect(open()).toBeLessThan(before + 10);
});
