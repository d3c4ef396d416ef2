// `get_file_info` and `get_multiple_file_info` over the wire.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.with({
    "a.txt": "x".repeat(26),
    ".dot": "",
    "pic.png": "",
    "dir/unknown.xyz": "12",
  });
  fixture.link("a.txt", "link");
  fixture.link("/etc/passwd", "out");
  fixture.age("a.txt", 1_700_000_000);
  fixture.mode("a.txt", 0o640);
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe("about one", () => {
  it("file: everything that the contract lists", async () => {
    const { info } = await fixture.done("get_file_info", { path: "a.txt" });
    expect(info).toEqual({
      name: "a.txt",
      path: `${fixture.path}/a.txt`,
      type: "file",
      size: 26,
      created: expect.stringMatching(/Z$/),
      modified: "2023-11-14T22:13:20.000Z",
      accessed: expect.stringMatching(/Z$/),
      permissions: "rw-r-----",
      isHidden: false,
      mimeType: "text/plain",
    });
    const said = await fixture.text("get_file_info", { path: "a.txt" });
    expect(said.split("\n").map(line => line.split(":")[0])).toEqual([
      "Name",
      "Path",
      "Type",
      "Size",
      "Created",
      "Modified",
      "Accessed",
      "Permissions",
      "Hidden",
      "MIME Type",
    ]);
    expect(said).toContain("Size: 26 B\n");
  });

  it.each([
    ["dir", { type: "directory", name: "dir", isHidden: false }],
    [".dot", { type: "file", isHidden: true, size: 0 }],
    ["pic.png", { mimeType: "image/png" }],
    ["dir/unknown.xyz", { mimeType: "application/octet-stream" }],
    ["link", { type: "symlink", name: "link", symlinkTarget: "a.txt", size: 26, mimeType: "text/plain" }],
  ])("%s", async (path, facts) => {
    expect((await fixture.done("get_file_info", { path })).info).toMatchObject(facts);
  });

  it("allowed directory itself", async () => {
    const { info } = await fixture.done("get_file_info", { path: fixture.path });
    expect(info).toMatchObject({ type: "directory", path: fixture.path });
    expect(fixture.path.endsWith(`/${info.name}`)).toBe(true);
  });

  it("link that leads outside: nothing", async () => {
    expect((await fixture.failure("get_file_info", { path: "out" })).code).toBe("E_ACCESS_DENIED");
  });
});

describe("about many", () => {
  it("each has its info or its error, and there is a summary", async () => {
    const paths = ["a.txt", "nope", "dir", "out"];
    const answer = await fixture.call("get_multiple_file_info", { paths });
    const { results, summary } = answer.structuredContent;
    expect(results.map(({ path, info, error }) => [path, info?.type ?? error?.code])).toEqual([
      ["a.txt", "file"],
      ["nope", "E_NOT_FOUND"],
      ["dir", "directory"],
      ["out", "E_ACCESS_DENIED"],
    ]);
    expect(summary).toEqual({ total: 4, succeeded: 2, failed: 2, totalSize: 26 });
    const [header, ...lines] = (answer.content[0]?.text ?? "").split("\n");
    expect(header).toBe("File info (2/4 ok | 26 B):");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toBe("[ERROR] nope: Path does not exist: nope");
  });

  it("types are left out when they are not asked for", async () => {
    const { results } = await fixture.done("get_multiple_file_info", {
      paths: ["a.txt"],
      includeMimeType: false,
    });
    expect(results[0]?.info).not.toHaveProperty("mimeType");
    const { results: typed } = await fixture.done("get_multiple_file_info", { paths: ["a.txt"] });
    expect(typed[0]?.info).toHaveProperty("mimeType", "text/plain");
  });
});
