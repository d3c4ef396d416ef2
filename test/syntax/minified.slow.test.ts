// Code in one long line.
import { expect, it } from "vitest";
import { structureOf } from "../../src/engine/syntax/structure.ts";

it("a minified file of 600 KB and the next file have their declarations", async () => {
  const line = "var a=function(){return 1};function b(){return a()}";
  const { known, declared } = await structureOf("a.min.js", line.repeat(12_000));
  expect([known, declared.length]).toEqual([true, 20_000]);
  expect(declared[1]).toMatchObject({ name: "b", from: 1, to: 1, head: "function b()" });
  expect((await structureOf("b.js", line)).declared.map(({ name }) => name)).toEqual(["a", "b"]);
});
