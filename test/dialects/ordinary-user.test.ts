// What file permissions forbid to an ordinary user but not to root. Tests often run as root; the server here does not.
import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProcessWire } from "../mcp/wire.ts";
import { ServedTree } from "./served-tree.ts";

const user = process.getuid?.() === 0 ? 65534 : undefined;

describe("a tree with read-only directories, as in a cache of Go modules", () => {
  const tree = new ServedTree("polyfs", { "mod/a/b/f": "f\n", "mod/a/g": "g\n", "mod/h": "h\n" });
  let server: ProcessWire;
  const all = () =>
    execFileSync("find", [tree.root, "-printf", "%P %m %l\\n"], { encoding: "utf8" }).split("\n").sort();
  const text = async (tool: string, params: Record<string, unknown>) => {
    const { content } = await server.call(tool, params);
    return JSON.stringify(content);
  };
  beforeAll(async () => {
    execFileSync("chmod", ["444", tree.path("mod/a/b/f")]);
    execFileSync("chmod", ["-R", "a-w", tree.path("mod")]);
    if (user !== undefined) execFileSync("chown", ["-R", `${user}:${user}`, tree.base]);
    server = await tree.start({
      args: ["--state-dir", `${tree.base}/state`],
      env: { HOME: tree.base },
      user,
    });
    await server.initialize();
  });
  afterAll(async () => {
    execFileSync("chmod", ["-R", "u+rwX", tree.base]);
    await tree[Symbol.asyncDispose]();
  });

  it.each([
    ["delete_path", { path: "mod", recursive: true }],
    ["move_path", { from: "mod", to: "moved" }],
    ["copy_path", { from: "mod", to: "copied" }],
  ])("%s can be undone, and done again", async (tool, params) => {
    const before = all();
    expect(await text(tool, params)).toContain("undo reverts it");
    const after = all();
    expect(after).not.toEqual(before);
    expect(await text("undo", {})).toContain("undid");
    expect(all()).toEqual(before);
    expect(await text(tool, params)).toContain("undo reverts it");
    expect(all()).toEqual(after);
    await text("undo", {});
    expect(all()).toEqual(before);
  });

  it("is not changed inside, and the refusal says why", async () => {
    const before = all();
    expect(await text("write_file", { path: "mod/new", content: "new\n" })).toContain("permission denied");
    expect(await text("delete_path", { path: "mod/h" })).toContain("permission denied");
    expect(all()).toEqual(before);
  });
});
