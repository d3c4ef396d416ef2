// Another program puts a named pipe in the place of a file while an edit of it is under way. Opening a pipe can block
// for ever, here or in a program that the server starts: neither this call nor a later one may wait for that.
import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { Fixture } from "./fixture.ts";

describe.runIf(process.platform === "linux")("a file that a pipe replaces during", () => {
  it("an edit: the edit is refused, and later edits are made", async () => {
    using fixture = new Fixture();
    const { inside, state } = fixture;
    const file = join(inside, "swapped");
    writeFileSync(file, "old");
    writeFileSync(join(inside, "other"), "old");
    execFileSync("mkfifo", [`${file}-pipe`]);
    using engine = openEngine({ roots: [{ path: inside, access: "read-write" }], state });
    const { workspace } = engine;
    const first = workspace.edit(workspace.at("swapped"), () => {
      renameSync(`${file}-pipe`, file);
      return Buffer.from("new");
    });
    await expect(first).rejects.toThrow();
    await workspace.edit(workspace.at("other"), () => Buffer.from("new"));
    expect(readFileSync(join(inside, "other"), "utf8")).toBe("new");
  });
});
