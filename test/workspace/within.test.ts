// Paths of which one contains the other.
import fc from "fast-check";
import { expect, it } from "vitest";
import { isRelated, PathMap, RelatedPaths } from "../../src/engine/workspace/within.ts";

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

it("a map of paths finds what is below a directory, whatever was set and deleted before", () => {
  let seed = 7;
  const below = (most: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31;
    return seed % most;
  };
  const map = new PathMap<number>();
  const model = new Map<string, number>();
  for (let step = 0; step < 3000; step++) {
    const path = Array.from({ length: 1 + below(4) }, () => `/${"abc"[below(3)]}`).join("");
    if (below(2) === 0) {
      map.set(path, step);
      model.set(path, step);
    } else {
      map.delete(path);
      model.delete(path);
    }
    const inside = [...model].filter(([one]) => one === path || one.startsWith(`${path}/`));
    expect(new Map(map.within(path))).toEqual(new Map(inside));
    expect(map.hasBelow(path)).toBe(inside.some(([one]) => one !== path));
  }
});
