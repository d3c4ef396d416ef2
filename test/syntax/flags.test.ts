// The parsing thread sets flags of V8, which belong to the whole process.
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { parse } from "../../src/engine/syntax/parse.ts";

/** The start of compiled code: what V8 compares, its version and its flags, before it uses any. */
const header = () => new Script("(function named() {})").createCachedData().subarray(0, 16);

test("after a file was parsed, V8 accepts the code that it compiled before", async () => {
  const before = header();
  const language = { name: "typescript", grammar: "typescript" } as const;
  const found = await parse("const a = 1;\n", language, { declarations: true });
  expect(found?.declarations).toHaveLength(1);
  expect(header()).toEqual(before);
});
