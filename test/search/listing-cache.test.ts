// What the cache of listings keeps when trees are larger than its bound. The names are not on the disk: a million files
// would take minutes to make.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chance } from "../../proof/chance.ts";
import { byteName } from "../../proof/model/byte-names.ts";
import { includeGlobs } from "../../src/engine/search/globs.ts";
import { IgnoreRules } from "../../src/engine/search/ignore.ts";
import { type CachedDirectory, Knowledge } from "../../src/engine/search/listing-cache.ts";
import type { Directory } from "../../src/engine/workspace/directory.ts";
import { type DirectoryEntry, entryNamed } from "../../src/engine/workspace/directory-entry.ts";
import { pack, unpack } from "../../src/engine/workspace/packed-names.ts";
import { hasProc } from "../setup/proc.ts";
import { Tree } from "./tree.ts";

const bound = 64 * 1024 * 1024;
const perDirectory = 50_000;
const names = pack(
  Array.from(
    { length: perDirectory },
    (_, i): DirectoryEntry => ({ name: `file${1e6 + i}.ts`, kind: "file" }),
  ),
);
const stamp = { dev: 0, ino: 7, mtimeMs: 1, ctimeMs: 1 };

/** Walks below `start`: caches what a directory holds, and plans how to go through it. */
function walked(start: Directory, directories: readonly string[]): Knowledge {
  const knowledge = new Knowledge(start);
  const now = { ...stamp, dev: start.mark().dev };
  knowledge.proves(now, start);
  for (const name of directories) {
    const place = knowledge.start && knowledge.below(knowledge.start, name);
    if (place !== undefined && knowledge.recall(place, now) !== undefined) continue;
    const listing = knowledge.keep({ stamp: now, names, count: perDirectory, isSorted: true }, place);
    const before = listing.bytes;
    const rules = IgnoreRules.of({ rules: false, hidden: true });
    const occasion = { rules, top: "", prefix: `${name}/`, order: "paths", place: "" } as const;
    listing.plan({ ...occasion, exclude: undefined, hidden: undefined });
    knowledge.hasGrown(place, listing, listing.bytes - before);
  }
  return knowledge;
}

function kept(start: Directory, directories: readonly string[]): string[] {
  const knowledge = new Knowledge(start);
  const now = { ...stamp, dev: start.mark().dev };
  return directories.filter(name => {
    const place: CachedDirectory | undefined = knowledge.start?.below?.get(name);
    return place !== undefined && knowledge.recall(place, now) !== undefined;
  });
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `d${i}`);

describe.runIf(hasProc)("the cache of listings", () => {
  it("holds a million names", () => {
    using tree = new Tree();
    using start = tree.directory();
    const directories = numbered(20);
    walked(start, directories);
    expect(kept(start, directories)).toEqual(directories);
  });

  it("keeps the part that fits, also when the tree is walked again", () => {
    using tree = new Tree();
    using start = tree.directory();
    const directories = numbered(150);
    walked(start, directories);
    const first = kept(start, directories);
    expect(first.length).toBeGreaterThan(20);
    expect(first.length * names.length).toBeLessThanOrEqual(bound);
    walked(start, directories);
    expect(kept(start, directories)).toEqual(first);
  });

  it("makes room for a part of a tree that is walked alone", () => {
    using tree = new Tree({ "part/": "" });
    using whole = tree.directory();
    const directories = numbered(150);
    walked(whole, directories);
    // The same engine has the whole tree and its part.
    using inner = whole.child({ name: "part", kind: "directory" });
    if (inner === undefined) throw new Error("gone");
    const few = numbered(20);
    walked(inner, few);
    expect(kept(inner, few)).toEqual(few);
  });
});

describe("packed names", () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const kinds = ["file", "directory", "symlink", "fifo", "socket", "device", "other"] as const;

  it("are unpacked as the same entries, whatever bytes they consist of", () => {
    fc.assert(
      fc.property(seeds, seed => {
        const chance = new Chance(seed);
        const entries = kinds.map(kind => entryNamed(byteName(chance, new Map()), kind));
        expect(unpack(pack(entries))).toEqual(entries);
      }),
      { numRuns: 500 },
    );
  });

  it("are all looked at by a glob that could match one of them", () => {
    const globs = ["*.ts", "**/*.TS", "a*", "src/**/b.c", "**/{x,y}.é", "?", "**", "src/**"];
    const bases = ["a.ts", "a.TS", "b.c", "x.é", "X.É", "y.é", ".ts", "a", "ts", "k.ts", "\u212a.ts"];
    let matched = 0;
    for (const glob of globs) {
      for (const ignoreCase of [true, false]) {
        for (const slashless of ["path", "base-name"] as const) {
          const include = includeGlobs([glob], { ignoreCase, slashless });
          for (const base of bases) {
            for (const path of [base, `src/${base}`, `src/deep/${base}`]) {
              if (!include.matches(path)) continue;
              matched++;
              const around = pack([...bases.slice(0, 3), base].map(name => ({ name, kind: "file" })));
              expect(include.mayMatchIn(around), `${glob} with ${path}`).toBe(true);
              expect(include.mayMatchIn(pack([{ name: base, kind: "file" }])), `${glob} with ${path}`).toBe(
                true,
              );
            }
          }
        }
      }
    }
    expect(matched).toBeGreaterThan(100);
  });
});
