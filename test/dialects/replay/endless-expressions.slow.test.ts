// Expressions that never end, in the `replay` contract: they use up their time, so they are not part of `npm test`.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({}));

const content = `${"a".repeat(60)}!`;
const endless = "^(a+)+$";

describe("a regular expression that never finishes", () => {
  it("is stopped in a search, while other calls are answered", async () => {
    fixture.write("f.ts", "let y = 1;\n");
    fixture.write("evil", `${content}\n`);
    const slow = fixture.fails("grep_files", { regex: endless, directory: fixture.root });
    expect(await fixture.says("grep_files", { regex: "let y", directory: fixture.root })).toContain(
      "[1 match]",
    );
    expect(await slow).toMatchObject({ code: -32603, message: expect.stringContaining("Timed out") });
  });

  it("is stopped in an edit, and the server continues", async () => {
    fixture.write("f", content);
    const path = fixture.path("f");
    const edits = [{ oldText: endless, newText: "", isRegex: true }];
    const slow = fixture.fails("edit_file", { path, edits });
    expect(await fixture.says("read_file", { path })).toBe(content);
    expect(await slow).toMatchObject({ code: -32603, message: expect.stringContaining("Timed out") });
    expect(fixture.read("f")).toBe(content);
  });
});
