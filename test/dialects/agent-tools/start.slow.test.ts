// How the `agent-tools` dialect is started: its options, the environment that its contract publishes, and what is
// offered then.
import { mkdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { polyfs, tree } from "../../cli/program.ts";
import { start } from "../../mcp/wire.ts";
import { type Circumstances, Fixture, Server } from "./fixture.ts";

const all = [
  "read_file",
  "write_file",
  "edit_file",
  "multi_edit",
  "apply_patch",
  "list_dir",
  "glob",
  "grep",
  "bash",
];
const reading = ["read_file", "list_dir", "glob", "grep"];

describe("the tools", () => {
  it("come in the contract's order", async () => {
    await using fixture = new Fixture();
    expect(await (await fixture.serve()).toolNames()).toEqual(all);
  });

  it("are only those that read in read-only mode; the others are unknown", async () => {
    await using fixture = new Fixture({ "a.txt": "a\n" });
    const ways: Circumstances[] = [
      { args: ["--read-only"] },
      { env: { READ_ONLY: "Yes" } },
      { env: { POLYFS_READ_ONLY: "1" } },
    ];
    for (const way of ways) {
      const server = await fixture.serve(way);
      expect(await server.toolNames()).toEqual(reading);
      for (const name of all.filter(name => !reading.includes(name))) {
        expect(await server.refuses(name, { path: "a.txt", content: "b" })).toEqual({
          error: "not_found",
          message: `Unknown tool: ${name}`,
        });
      }
    }
    for (const off of ["0", "FALSE", "no", "off", ""]) {
      expect(await (await fixture.serve({ env: { READ_ONLY: off } })).toolNames()).toEqual(all);
    }
    expect(fixture.read("a.txt")).toBe("a\n");
  });

  it("are without bash under --no-run", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve({ args: ["--no-run"] });
    expect(await server.toolNames()).toEqual(all.filter(name => name !== "bash"));
    expect(await server.refuses("bash", { command: "true" })).toEqual({
      error: "not_found",
      message: "Unknown tool: bash",
    });
  });

  it("answer every mistake with a result, never with a protocol error", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve();
    expect(await server.refuses("nope")).toEqual({ error: "not_found", message: "Unknown tool: nope" });
    for (const params of [
      undefined,
      null,
      [],
      "x",
      {},
      { path: null },
      { path: ["a"] },
      { path: "a", more: 1 },
    ]) {
      expect(await server.refuses("read_file", params)).toMatchObject({ error: "invalid_input" });
    }
  });
});

describe("the workspace", () => {
  it("is --workspace, or the first directory, or WORKSPACE_ROOT, or the working directory", async () => {
    const base = tree("one", "two", "three", "four");
    for (const name of ["one", "two", "three", "four"]) mkdirSync(`${base}/${name}/is-${name}`);
    const env = { WORKSPACE_ROOT: `${base}/three`, POLYFS_STATE_DIR: `${base}/state` };
    const listing = async (args: readonly string[], more: object = env, cwd = base) => {
      await using wire = await start({ dialect: "agent-tools", args, env: { ...more }, cwd });
      await wire.initialize();
      return new Server(wire).says("list_dir");
    };
    expect(await listing(["--workspace", "one"])).toBe("is-one/");
    expect(await listing(["two", "one"])).toBe("is-two/");
    expect(await listing([])).toBe("is-three/");
    expect(await listing([], { POLYFS_STATE_DIR: `${base}/state` }, `${base}/four`)).toBe("is-four/");
  });

  it("is not left, unless --allow-outside-workspace says so; relative paths still start there", async () => {
    await using fixture = new Fixture({ "a.txt": "inside\n", "../b.txt": "outside\n" });
    const outside = `${fixture.base}/b.txt`;
    const confined = await fixture.serve();
    expect(await confined.refuses("read_file", { path: outside })).toMatchObject({ error: "path_escape" });
    for (const way of [{ args: ["--allow-outside-workspace"] }, { env: { ALLOW_OUTSIDE_WORKSPACE: "on" } }]) {
      const server = await fixture.serve(way);
      expect(await server.says("read_file", { path: "a.txt" })).toBe("     1\tinside");
      expect(await server.says("read_file", { path: "../b.txt" })).toBe("     1\toutside");
      expect(await server.says("glob", { pattern: "*.txt", path: ".." })).toBe(outside);
      expect(await server.says("grep", { pattern: "out", path: outside })).toBe(outside);
      expect(await server.says("write_file", { path: outside, content: "outside\n" })).toBe(
        `Wrote 8 bytes to ${outside} (overwritten).`,
      );
    }
    const reader = await fixture.serve({ args: ["--allow-outside-workspace", "--read-only"] });
    expect(await reader.says("read_file", { path: outside })).toBe("     1\toutside");
    expect(await reader.refuses("write_file", { path: outside, content: "" })).toMatchObject({
      message: "Unknown tool: write_file",
    });
  });
});

describe("the limits", () => {
  it("are MAX_FILE_BYTES and MAX_OUTPUT_BYTES; ours and the command line go before", async () => {
    await using fixture = new Fixture({ "a.txt": "12345\n".repeat(10) });
    const small = await fixture.serve({ env: { MAX_FILE_BYTES: "59" } });
    expect(await small.refuses("read_file", { path: "a.txt" })).toMatchObject({
      error: "too_large",
      size: 60,
      limit: 59,
    });
    const enough = await fixture.serve({ args: ["--max-file-bytes=60"], env: { MAX_FILE_BYTES: "1" } });
    expect(await enough.says("read_file", { path: "a.txt" })).toContain("    10\t12345");
    const ours = { MAX_OUTPUT_BYTES: "1", POLYFS_MAX_OUTPUT_BYTES: "150" };
    const page = await (await fixture.serve({ env: ours })).says("read_file", { path: "a.txt" });
    expect(page).toMatch(
      /^ {5}1\t12345\n[\s\S]*\n\[\.\.\. \d of 10 lines shown; continue with offset=\d \.\.\.\]$/,
    );
  });
});

describe("a start with wrong settings", () => {
  const wrong: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ READ_ONLY: "maybe" }, /^polyfs: READ_ONLY must be true or false, not "maybe"\n$/],
    [{ ALLOW_OUTSIDE_WORKSPACE: "2" }, /^polyfs: ALLOW_OUTSIDE_WORKSPACE must be true or false, not "2"\n$/],
    [
      { MAX_OUTPUT_BYTES: "many" },
      /^polyfs: MAX_OUTPUT_BYTES must be a whole number, 1 or more, not "many"\n$/,
    ],
    [{ MAX_FILE_BYTES: "0" }, /^polyfs: MAX_FILE_BYTES must be a whole number/],
    [{ BASH_TIMEOUT_MS: "-1" }, /^polyfs: BASH_TIMEOUT_MS must be a whole number/],
    [{ BASH_TIMEOUT_MAX_MS: "1.5" }, /^polyfs: BASH_TIMEOUT_MAX_MS must be a whole number/],
    [{ WORKSPACE_ROOT: "/no/such/place" }, /^polyfs: no such directory: \/no\/such\/place\n$/],
  ];
  it.each(wrong)("is refused with one line and code 2: %j", (env, line) => {
    const { code, stdout, stderr } = polyfs(["--dialect", "agent-tools"], { env, cwd: tree() });
    expect(stderr).toMatch(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it("but another dialect ignores these variables", () => {
    const env = { READ_ONLY: "maybe", MAX_OUTPUT_BYTES: "many" };
    const { code, stderr } = polyfs(["--dialect", "fs"], { env, cwd: tree() });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^\S+ polyfs info: started [^\n]*\n$/);
  });

  it("and an unknown choice is refused on the command line", () => {
    for (const option of ["--hard-links=cut", "--allow-run=fast"]) {
      expect(polyfs(["--dialect", "agent-tools", option], { cwd: tree() })).toMatchObject({ code: 2 });
    }
  });
});
