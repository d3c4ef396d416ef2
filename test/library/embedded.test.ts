// The library as a program uses it that brings its own loop.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
  call,
  definitions,
  dialects,
  openEngine,
  outcomeText,
  Session,
  text,
  tool,
} from "../../src/index.ts";

function project(access: "read-write" | "read-only" = "read-write") {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-library-")));
  const state = `${root}-state`;
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  const engine = openEngine({ roots: [{ path: root, access }], state });
  onTestFinished(() => {
    engine[Symbol.dispose]();
    for (const path of [root, state]) rmSync(path, { recursive: true, force: true });
  });
  return { root, engine };
}

it("a call needs an engine and nothing else, and a failure is an answer", async () => {
  const { root, engine } = project();
  const polyfs = await dialects.polyfs();
  const edited = await call(
    polyfs,
    "edit_file",
    { path: "a.txt", edits: [{ old: "two", new: "2" }] },
    { engine },
  );
  expect(outcomeText(edited)).toContain("+2");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n2\n");
  const failed = await call(polyfs, "read_file", { path: "../etc/passwd" }, { engine });
  expect(failed).toMatchObject({ isError: true });
  expect(outcomeText(failed)).toMatch(/^outside_roots: /);
  expect(outcomeText(await call(polyfs, "no_such_tool", {}, { engine }))).toContain("no_such_tool");
  const replay = await dialects.replay();
  expect(outcomeText(await call(replay, "read_file", { path: "b" }, { engine }))).toMatch(/^error -32002: /);
});

it("definitions are those that the settings and the directories allow", async () => {
  const names = async (access: "read-write" | "read-only", settings = {}) =>
    definitions(await dialects.polyfs(), { engine: project(access).engine, settings }).map(
      ({ name }) => name,
    );
  expect(await names("read-write")).toContain("edit_file");
  expect(await names("read-write")).not.toContain("run_command");
  expect(await names("read-only")).not.toContain("edit_file");
  const fs = definitions(await dialects.fs(), { engine: project().engine, settings: { plainNames: true } });
  expect(fs.map(({ name }) => name)).toContain("read_file");
  expect(fs.every(({ readOnly }) => readOnly)).toBe(true);
});

it("a session keeps what a contract remembers, and without one each call stands alone", async () => {
  const { root, engine } = project();
  const editor = await dialects["file-editor"]();
  const read = { path: "a.txt" };
  using session = new Session();
  await call(editor, "set_workspace", { path: root }, { engine, session });
  expect(await call(editor, "read_files", read, { engine, session })).not.toMatchObject({ isError: true });
  expect(await call(editor, "read_files", read, { engine })).toMatchObject({ isError: true });
});

it("a tool of one's own gets typed parameters, defaults and confinement", async () => {
  const { engine } = project();
  const shout = tool({
    name: "shout",
    title: "Shout",
    description: "The first line, louder.",
    input: {
      type: "object",
      properties: { path: { type: "string" }, marks: { type: "integer", default: 1 } },
      required: ["path"],
    },
    effect: "reads",
    run({ path, marks }, { workspace }) {
      using file = workspace.file(workspace.at(path));
      const [line = ""] = file.readNow(0, 100).toString("utf8").split("\n");
      return text(line.toUpperCase() + "!".repeat(marks));
    },
  });
  const mine = { ...(await dialects.polyfs()), tools: [shout] };
  expect(outcomeText(await call(mine, "shout", { path: "a.txt" }, { engine }))).toBe("ONE!");
  expect(outcomeText(await call(mine, "shout", { path: "a.txt", marks: "many" }, { engine }))).toContain(
    "marks",
  );
  expect(outcomeText(await call(mine, "shout", { path: "/etc/passwd" }, { engine }))).toMatch(
    /^outside_roots/,
  );
});
