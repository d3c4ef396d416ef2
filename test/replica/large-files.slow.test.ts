// Files over 256 MB are not shared. They are in no log and in no history, so nothing could bring them back.
import { existsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

const size = 257 * 1024 * 1024;

it("a file that is too large to share stays in its directory, when the replica starts again, too", async () => {
  await using fixture = new Fixture();
  const large = ["large", "d/large", "grown"].map(name => join(fixture.path, "a", name));
  const a = await fixture.machine("a", { f: "1\n", "d/large": "", large: "", grown: "1\n" }, {}, () => {
    for (const path of large.slice(0, 2)) truncateSync(path, size);
  });
  const b = await fixture.machine("b");
  expect(existsSync(join(b.root, "large"))).toBe(false);
  truncateSync(large[2] ?? "", size);
  await b.write("g", "2\n");
  await a.replica.refresh("reads");
  await a.replica[Symbol.asyncDispose]();
  writeFileSync(join(a.root, "not in the log"), "");
  const again = await fixture.machine("a");
  expect(large.map(path => existsSync(path) && statSync(path).size)).toEqual([size, size, size]);
  expect(existsSync(join(a.root, "not in the log"))).toBe(false);
  expect(again.text("g")).toBe("2\n");
});
