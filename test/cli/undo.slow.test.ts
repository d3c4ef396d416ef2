// Going back and forth through changes from the shell: by steps, by time, by client, by connection, by hunk.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { start } from "../mcp/wire.ts";
import { polyfs, tree } from "./program.ts";
import { type Project, project } from "./project.ts";

const textOf = ({ path }: Project, name = "a.txt") => readFileSync(path(name), "utf8");
const write = ({ call }: Project, content: string, path = "a.txt") => call("write_file", { path, content });

describe("polyfs undo and polyfs redo", () => {
  it("go three steps back and three steps forward, and say when there is no further step", () => {
    const here = project();
    for (const content of ["1\n", "2\n", "3\n"]) write(here, content);
    const back = [1, 2, 3].map(() => [here.run("undo").code, textOf(here)]);
    expect(back).toEqual([
      [0, "2\n"],
      [0, "1\n"],
      [0, "one\ntwo\nthree\n"],
    ]);
    expect(here.run("undo").code).toBe(1);
    const forward = [1, 2, 3].map(() => [here.run("redo").code, textOf(here)]);
    expect(forward).toEqual([
      [0, "1\n"],
      [0, "2\n"],
      [0, "3\n"],
    ]);
    expect(here.run("redo")).toMatchObject({ code: 1, stdout: "" });
    here.run("undo");
    expect(textOf(here)).toBe("2\n");
  });

  it("do not pass over a change that touched another directory, too, but name the directories", () => {
    const here = project();
    write(here, "1\n");
    const other = tree("sub");
    writeFileSync(join(other, "sub/b.txt"), "1\n");
    const both = ["--workspace", here.root, "--workspace", join(other, "sub")];
    const edit = { paths: [here.path("a.txt"), join(other, "sub/b.txt")], old: "1", new: "2" };
    expect(here.run("call", ...both, "replace_in_files", JSON.stringify(edit)).code).toBe(0);
    for (const args of [[], ["--since", "1h"], ["./a.txt"]]) {
      const { code, stderr } = here.run("undo", ...args);
      expect(code).not.toBe(0);
      expect(stderr).toContain(`--workspace ${here.root} --workspace ${join(other, "sub")}`);
      expect(textOf(here)).toBe("2\n");
    }
    expect(here.run("undo", ...both).code).toBe(0);
    expect([textOf(here), readFileSync(join(other, "sub/b.txt"), "utf8")]).toEqual(["1\n", "1\n"]);
    expect(here.run("undo").code).toBe(0);
    expect(textOf(here)).toBe("one\ntwo\nthree\n");
  });

  it("know the last change of a server that was killed with the answer", async () => {
    const here = project();
    write(here, "1\n");
    const wire = await start({ roots: [here.root], env: here.env });
    await wire.initialize();
    await wire.call("write_file", { path: "a.txt", content: "2\n" });
    wire.child.kill("SIGKILL");
    await wire.exited();
    expect(here.run("history").stdout.match(/write_file/g)).toHaveLength(2);
    here.run("undo");
    expect(textOf(here)).toBe("1\n");
  });

  it("a change after an undo ends redo", () => {
    const here = project();
    write(here, "1\n");
    here.run("undo");
    write(here, "other\n", "b.txt");
    expect(here.run("redo").stderr).toContain("nothing to redo");
    expect(textOf(here)).toBe("one\ntwo\nthree\n");
  });

  it("undo of a path goes back step by step, too, and leaves the other files of each change", () => {
    const here = project();
    write(here, "ab\n", "b.txt");
    write(here, "ab\n");
    here.call("replace_in_files", { paths: ["**"], old: "a", new: "x" });
    here.call("replace_in_files", { paths: ["**"], old: "b", new: "y" });
    expect(textOf(here)).toBe("xy\n");
    here.run("undo", "./a.txt");
    expect(textOf(here)).toBe("xb\n");
    here.run("undo", "./a.txt");
    expect(textOf(here)).toBe("ab\n");
    here.run("undo", "./a.txt");
    expect(textOf(here)).toBe("one\ntwo\nthree\n");
    expect(textOf(here, "b.txt")).toBe("xy\n");
    here.run("redo");
    expect(textOf(here)).toBe("ab\n");
  });

  it("undo everything since a time, or after a change, all or none", () => {
    const here = project();
    write(here, "1\n");
    const { id } = JSON.parse(here.run("history", "--json").stdout);
    write(here, "2\n");
    write(here, "b\n", "b.txt");
    expect(here.run("undo", "--since", id, "--dry-run").code).toBe(0);
    expect(existsSync(here.path("b.txt"))).toBe(true);
    expect(here.run("undo", "--since", id).stdout).toMatch(/Undone, as 2 changes: \w+, \w+\.\n$/);
    expect([textOf(here), existsSync(here.path("b.txt"))]).toEqual(["1\n", false]);
    write(here, "3\n");
    writeFileSync(here.path("a.txt"), "mine\n");
    write(here, "c\n", "c.txt");
    expect(here.run("undo", "--since", "2h").code).toBe(1);
    expect([textOf(here), textOf(here, "c.txt")]).toEqual(["mine\n", "c\n"]);
    writeFileSync(here.path("a.txt"), "3\n");
    expect(here.run("undo", "--since", "2h").code).toBe(0);
    expect([textOf(here), existsSync(here.path("c.txt"))]).toEqual(["one\ntwo\nthree\n", false]);
    expect(here.run("undo", "--since", "soon")).toMatchObject({ code: 2 });
  });

  it("undo all changes of one connection, or the last one of a client", async () => {
    const here = project();
    write(here, "b\n", "b.txt");
    {
      await using wire = await start({ roots: [here.root], env: { ...here.env } });
      await wire.initialize();
      for (const [path, content] of [
        ["a.txt", "agent\n"],
        ["c.txt", "agent\n"],
      ])
        await wire.request("tools/call", { name: "write_file", arguments: { path, content } });
    }
    write(here, "d\n", "d.txt");
    const records = here.run("history", "--json").stdout.trimEnd().split("\n");
    const { client } = JSON.parse(records[1] ?? "");
    expect(here.run("undo", "--client", "nobody").stderr).toContain(client);
    // People know a client by its name, not by its version.
    expect(client).toContain("/");
    expect(here.run("undo", "--task", "--client", client.replace(/\/.*/, "")).code).toBe(0);
    expect([textOf(here), existsSync(here.path("c.txt"))]).toEqual(["one\ntwo\nthree\n", false]);
    expect([textOf(here, "b.txt"), textOf(here, "d.txt")]).toEqual(["b\n", "d\n"]);
    expect(here.run("undo", "--client", "polyfs call").code).toBe(0);
    expect([existsSync(here.path("b.txt")), existsSync(here.path("d.txt"))]).toEqual([true, false]);
  });

  it("undo the chosen hunks, and nothing if none is chosen", () => {
    const here = project();
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`);
    writeFileSync(here.path("a.txt"), `${lines.join("\n")}\n`);
    write(here, `${lines.with(3, "third").with(20, "twentieth").with(35, "last").join("\n")}\n`);
    expect(here.answer("n\nn\nn\n", "undo", "--interactive").stdout).toContain("Nothing was changed.");
    expect(here.answer("", "undo", "--interactive").stdout).toContain("Nothing was changed.");
    const { code, stdout, stderr } = here.answer("?\nn\ny\nq\n", "undo", "--interactive");
    expect([code, stdout]).toEqual([0, expect.stringContaining("+twentieth")]);
    expect(stderr).toContain("(2 of 3)");
    expect(textOf(here)).toBe(`${lines.with(3, "third").with(35, "last").join("\n")}\n`);
    here.run("undo");
    expect(textOf(here)).toBe(`${lines.join("\n")}\n`);
  });

  it("refuse an unknown id, and take a plain word for a file if there is one of that name", () => {
    const here = project();
    expect(here.run("undo", "zzz")).toMatchObject({ code: 1, stderr: expect.stringContaining("zzz") });
    write(here, "m\n", "makefile");
    expect(here.run("undo", "zzz")).toMatchObject({ code: 2, stderr: expect.stringContaining("zzz") });
    expect(here.run("history", "--before", "zzz")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no change "zzz"'),
    });
    expect(here.run("undo", "makefile").code).toBe(0);
    expect(existsSync(here.path("makefile"))).toBe(false);
    rmSync(join(here.root, "../state"), { recursive: true });
    expect(polyfs(["undo", "zzz"], { cwd: here.root, env: here.env }).code).toBe(1);
  });
});
