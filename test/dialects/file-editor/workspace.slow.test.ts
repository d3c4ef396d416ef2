// The workspace: chosen by the caller, bounded by the command line, and the only thing that can be reached.
import { mkdirSync, readdirSync, readlinkSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { call } from "../../../src/contract/call.ts";
import { Session } from "../../../src/contract/session.ts";
import { defaultSettings } from "../../../src/contract/settings.ts";
import { fileEditor } from "../../../src/dialects/file-editor/index.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { Fixture } from "./fixture.ts";

/** A call of each tool that works on a workspace with `a.txt`. */
const calls: readonly (readonly [string, Record<string, unknown>])[] = [
  ["read_files", { path: "a.txt" }],
  ["read_files", { path: ["a.txt"] }],
  ["write_files", { path: "a.txt", content: "x", line_count: 1 }],
  ["write_files", { path: ["a.txt"], content: ["x"], line_count: [1] }],
  ["apply_diffs", { path: "a.txt", search_content: "one", replace_content: "x", start_line: 1 }],
  ["insert_contents", { path: "a.txt", line: 1, content: "x" }],
  ["insert_contents", { path: ["a.txt"], line: [1], content: ["x"] }],
  ["search_and_replace", { path: "a.txt", search: "one", replace: "x" }],
  ["list_files", { path: "." }],
];
const denied = "Access denied: Path is outside the workspace boundary";

describe("before a workspace is set", () => {
  it.each(calls)("%s is refused: %j", async (tool, args) => {
    await using fixture = await Fixture.open({ "a.txt": "one\ntwo" }, { workspace: false });
    expect(await fixture.refuses(tool, args)).toBe(
      "Workspace not set. Please call set_workspace first to establish a secure workspace root directory.",
    );
    expect(fixture.bytes("a.txt")).toBe("one\ntwo");
  });

  it("an unknown tool is refused by name", async () => {
    await using fixture = await Fixture.open({}, { workspace: false });
    expect(await fixture.refuses("delete_files", {})).toBe("Unknown tool: delete_files");
  });

  it("a connection that keeps nothing between calls says that it cannot have one", async () => {
    await using fixture = await Fixture.open({ "a.txt": "one" }, { workspace: false });
    using engine = openEngine({ roots: [{ path: fixture.path, access: "read-write" }] });
    const context = {
      engine,
      workspace: engine.workspace,
      settings: defaultSettings,
      session: new Session({ lasting: false }),
      revision: "2026-07-28",
      signal: new AbortController().signal,
      progress: () => undefined,
    };
    for (const [tool, args] of [["set_workspace", { path: fixture.path }] as const, ...calls]) {
      const outcome = await call(fileEditor, tool, args, context);
      expect(outcome).toMatchObject({ isError: true });
      expect(JSON.stringify(outcome)).toContain("keeps nothing between calls");
    }
  });
});

describe("the workspace", () => {
  const files = {
    "in/a.txt": "one\ntwo",
    "in/deep/b.txt": "b",
    "other/secret.txt": "SECRET",
    "top.txt": "SECRET",
  };

  it("is one of the granted directories or is inside one", async () => {
    await using fixture = await Fixture.open(files, { roots: ["in"], workspace: false });
    for (const inside of ["in", "in/deep", "in/deep/.."])
      await fixture.says("set_workspace", { path: join(fixture.path, inside) });
    expect(await fixture.says("set_workspace", { path: "deep" })).toBe(
      `Successfully set workspace root to: ${fixture.path}/in/deep`,
    );
    for (const outside of ["", "other", "nothing-there"]) {
      expect(await fixture.refuses("set_workspace", { path: join(fixture.path, outside) })).toBe(
        `${denied} (allowed: ${fixture.path}/in)`,
      );
    }
    expect(await fixture.says("read_files", { path: "b.txt" }), "the last good choice stays").toBe("1 | b");
    expect(await fixture.refuses("set_workspace", { path: join(fixture.path, "in/nope") })).toBe(
      `Directory not found: ${fixture.path}/in/nope`,
    );
    expect(await fixture.refuses("set_workspace", { path: join(fixture.path, "in/a.txt") })).toBe(
      `Not a directory: ${fixture.path}/in/a.txt`,
    );
  });

  it("is any directory but the whole filesystem where the command line names none", async () => {
    await using fixture = await Fixture.open(files, { roots: [], workspace: "in" });
    expect(await fixture.says("read_files", { path: join(fixture.path, "in/a.txt") })).toBe(
      "1 | one\n2 | two",
    );
    expect(await fixture.refuses("read_files", { path: join(fixture.path, "top.txt") })).toBe(denied);
    symlinkSync("/", join(fixture.path, "in/all"));
    for (const whole of ["/", join(fixture.path, "in/all")]) {
      expect(await fixture.refuses("set_workspace", { path: whole })).toContain(
        "The whole filesystem cannot be the workspace",
      );
    }
    expect(await fixture.refuses("set_workspace", { path: "/proc/self/root" })).toContain("Access denied");
    expect(await fixture.refuses("set_workspace", { path: "in" })).toBe(
      "Workspace path must be absolute: in",
    );
    await fixture.says("write_files", { path: "a.txt", content: "x", line_count: 1 });
    expect(fixture.bytes("in/a.txt")).toBe("x");
  });

  it("is read-only where the start says so", async () => {
    await using fixture = await Fixture.open(files, { roots: [], args: ["--read-only"], workspace: "in" });
    for (const [tool, args] of calls.slice(2, 8)) {
      expect(await fixture.refuses(tool, args)).toContain("Path is read-only: a.txt");
    }
    expect(fixture.bytes("in/a.txt")).toBe("one\ntwo");
  });

  it.each(calls)("confines %s, whatever the path: %j", async (tool, args) => {
    await using fixture = await Fixture.open(files, { workspace: "in" });
    symlinkSync("../top.txt", join(fixture.path, "in/up"));
    symlinkSync(join(fixture.path, "other"), join(fixture.path, "in/over"));
    const ways = [
      "../top.txt",
      "up",
      "over/secret.txt",
      join(fixture.path, "top.txt"),
      "../nothing-there",
      "over",
    ];
    for (const way of ways) {
      const path = Array.isArray(args.path) ? [way] : way;
      expect(await fixture.refuses(tool, { ...args, path }), way).toContain(denied);
    }
    expect([fixture.bytes("top.txt"), fixture.bytes("other/secret.txt")]).toEqual(["SECRET", "SECRET"]);
  });

  it("belongs to the connection that set it", async () => {
    await using fixture = await Fixture.open(files, { workspace: false });
    using engine = openEngine({ roots: [{ path: fixture.path, access: "read-write" }] });
    const caller = (session: Session) => (tool: string, args: unknown) =>
      call(fileEditor, tool, args, {
        engine,
        workspace: engine.workspace,
        settings: defaultSettings,
        session,
        revision: "2025-11-25",
        signal: new AbortController().signal,
        progress: () => undefined,
      });
    using first = new Session();
    using second = new Session();
    using third = new Session();
    await caller(first)("set_workspace", { path: "in" });
    await caller(second)("set_workspace", { path: "in/deep" });
    const listing = (session: Session) => caller(session)("list_files", { path: "." });
    expect(await listing(first)).toMatchObject({ content: [{ text: "file: a.txt\ndirectory: deep" }] });
    expect(await listing(second)).toMatchObject({ content: [{ text: "file: b.txt" }] });
    expect(await listing(third)).toMatchObject({ isError: true });
  });

  it("keeps a read-only directory in it read-only", async () => {
    await using fixture = await Fixture.open(files, { workspace: false });
    using engine = openEngine({
      roots: [
        { path: fixture.path, access: "read-write" },
        { path: join(fixture.path, "in/deep"), access: "read-only" },
      ],
    });
    using workspace = engine.workspace.within(engine.workspace.at("in"));
    const write = (path: string) =>
      workspace.commit([{ kind: "write", path: workspace.at(path), bytes: Buffer.from("new") }]);
    await write("a.txt");
    await expect(write("deep/b.txt")).rejects.toMatchObject({ code: "read_only" });
    expect(() => workspace.at(join(fixture.path, "top.txt"))).toThrow("outside_roots");
  });

  it("may be changed while calls run in the old one, which is closed when they are done", async () => {
    await using fixture = await Fixture.open({ "in/a.txt": "one" }, { workspace: false });
    mkdirSync(join(fixture.path, "out"));
    using engine = openEngine({ roots: [{ path: fixture.path, access: "read-write" }] });
    const session = new Session();
    const context = {
      engine,
      workspace: engine.workspace,
      settings: defaultSettings,
      session,
      revision: "2025-11-25",
      signal: new AbortController().signal,
      progress: () => undefined,
    };
    const set = (path: string) => call(fileEditor, "set_workspace", { path }, context);
    const open = () =>
      readdirSync("/proc/self/fd").filter(fd => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`) === join(fixture.path, "in");
        } catch {
          return false;
        }
      }).length;
    await set("in");
    expect(open()).toBe(1);
    const running = Array.from({ length: 10 }, () =>
      call(fileEditor, "insert_contents", { path: "a.txt", line: 1, content: "x" }, context),
    );
    await set("out");
    for (const outcome of await Promise.all(running)) expect(outcome).not.toHaveProperty("isError");
    expect(fixture.bytes("in/a.txt")).toBe(`${"x\n".repeat(10)}one`);
    // Commits flush what they wrote in the background, and hold its directory until then.
    await vi.waitFor(() => expect(open()).toBe(0), 20_000);
    await set("in");
    session[Symbol.dispose]();
    expect(open()).toBe(0);
  });
});

it("a directory that holds the rules cannot be chosen, so no caller can rewrite its own rules", async () => {
  await using fixture = await Fixture.open(
    { "rules/policy.json": "{}", "project/a.txt": "one" },
    { workspace: false },
  );
  const at = (path: string) => join(fixture.path, path);
  using engine = openEngine({
    roots: [],
    state: `${fixture.path}-state`,
    anyDirectory: "read-write",
    decidingFiles: [at("rules/policy.json")],
  });
  using session = new Session();
  const choose = async (path: string) =>
    JSON.stringify(
      await call(
        fileEditor,
        "set_workspace",
        { path },
        {
          engine,
          session,
          workspace: engine.workspace,
          settings: { ...defaultSettings, anyDirectory: "read-write" },
          revision: "2025-11-25",
          signal: new AbortController().signal,
          progress: () => {},
        },
      ),
    );
  expect(await choose(at("rules"))).toContain('"isError":true');
  expect(await choose(at("."))).toContain('"isError":true');
  expect(await choose(at("project"))).toContain("Successfully");
});
