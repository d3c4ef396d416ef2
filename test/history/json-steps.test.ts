// Records of many files become JSON in pieces: the bytes are those of JSON.stringify.
import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonSteps } from "../../src/engine/workspace/archive/json-steps.ts";
import { atOnce } from "../../src/engine/workspace/footprint/time-slice.ts";

const plain = fc.oneof(
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom(null, undefined, {}, []),
);
const entry = fc.dictionary(fc.string({ maxLength: 4 }), plain, { maxKeys: 3, noNullPrototype: true });

it("the JSON of a record is the same in pieces, however long its lists are", () => {
  const list = fc
    .tuple(fc.array(entry, { minLength: 1, maxLength: 3 }), fc.constantFrom(1, 100, 201))
    .map(([some, times]) => Array.from({ length: times }, () => some).flat());
  const record = fc.dictionary(fc.string({ maxLength: 4 }), fc.oneof(plain, list, entry), {
    maxKeys: 4,
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(record, list, (given, files) => {
      const one = { ...given, account: { ...given, files } };
      expect(atOnce(jsonSteps(one)).toString()).toBe(JSON.stringify(one));
    }),
    { numRuns: 100 },
  );
});
