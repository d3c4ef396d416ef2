// What answers say about the structure of code.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { changeIn, Ground, type Server } from "./ground.ts";

let ground: Ground;
let server: Server;
beforeAll(async () => {
  ground = new Ground();
  server = await ground.serve();
});
afterAll(() => ground[Symbol.asyncDispose]());

const code = "export function one() {\n  return f(1);\n}\n\nexport function two() {\n  return f(2);\n}\n";
beforeEach(() => ground.reset({ "a.ts": code, "b.ts": code, "half.ts": "const a = ;\nconst b = 1;\n" }));

describe("a change that breaks syntax says so, with line, column and text, and is made all the same", () => {
  const broken = "new syntax error at 2:13 (missing `)`): return f(1;";

  it("by edit_file, also in a dry run", async () => {
    const edits = [{ old: "f(1)", new: "f(1" }];
    expect(await server.says("edit_file", { path: "a.ts", edits, dry_run: true })).toContain(broken);
    expect(await server.says("edit_file", { path: "a.ts", edits })).toContain(broken);
    expect(ground.read("a.ts")).toContain("f(1;");
  });

  it("by write_file, new or over another", async () => {
    const content = code.replace("f(1)", "f(1");
    expect(await server.says("write_file", { path: "a.ts", content })).toContain(broken);
    expect(await server.says("write_file", { path: "new.ts", content })).toContain("new syntax error at 2:");
  });

  it("by apply_patch, replace_in_files and undo, with the file's name where there are several", async () => {
    const patch = "--- a/a.ts\n+++ b/a.ts\n@@ -2 +2 @@\n-  return f(1);\n+  return f(1;\n";
    expect(await server.says("apply_patch", { patch })).toContain(broken);
    const said = await server.says("replace_in_files", { paths: ["*.ts"], old: "f(2)", new: "f(2" });
    expect(said).toContain("new syntax error at b.ts:6:");
    const good = { path: "b.ts", edits: [{ old: "f(2", new: "f(2)" }] };
    const mended = await server.says("edit_file", good);
    expect(mended).not.toContain("syntax");
    const fixed = await server.says("replace_in_files", { paths: ["a.ts"], old: "f(2", new: "f(2)" });
    expect(await server.says("undo", { change: changeIn(fixed) })).toMatch(/new syntax error at 6:\d+/);
  });

  it("and only what is new is told", async () => {
    const edits = [{ old: "b = 1", new: "b = 2" }];
    expect(await server.says("edit_file", { path: "half.ts", edits })).not.toContain("syntax");
  });
});
