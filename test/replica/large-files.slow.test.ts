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

it("a file that is too large to share stays when another replica deletes its directory", async () => {
  await using fixture = new Fixture();
  const large = join(fixture.path, "a", "d/e/large");
  const a = await fixture.machine("a", { "d/e/large": "", "d/e/small": "1\n", "d/other/f": "2\n" }, {}, () =>
    truncateSync(large, size),
  );
  const b = await fixture.machine("b");
  await b.workspace.commit([{ kind: "remove", path: b.workspace.at("d"), recursive: true }]);
  await a.replica.refresh("reads");
  expect(statSync(large).size).toBe(size);
  expect(["d/e/small", "d/other"].map(name => existsSync(join(a.root, name)))).toEqual([false, false]);
  await a.replica[Symbol.asyncDispose]();
  const again = await fixture.machine("a");
  await again.write("g", "3\n");
  await b.replica.refresh("reads");
  expect(b.text("g")).toBe("3\n");
  expect(statSync(large).size).toBe(size);
});
