// Paths of which one contains the other.
import fc from "fast-check";
import { expect, it } from "vitest";
import { isRelated, RelatedPaths } from "../../src/engine/workspace/within.ts";

it("a set of paths knows what is related to one of them, as a comparison with each does", () => {
  const name = fc.constantFrom("a", "b", "ab", "a b");
  const path = fc.array(name, { minLength: 1, maxLength: 4 }).map(names => names.join("/"));
  fc.assert(
    fc.property(fc.array(path, { maxLength: 6 }), path, fc.constantFrom("", "/"), (paths, asked, start) => {
      const related = new RelatedPaths();
      for (const one of paths) related.add(start + one);
      expect(related.has(start + asked)).toBe(paths.some(one => isRelated(start + one, start + asked)));
    }),
    { numRuns: 5000 },
  );
});
