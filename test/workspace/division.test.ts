// A tree is divided so that no single path holds most of it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { pathsToLookAt } from "../../src/engine/workspace/tree/division.ts";

it("a few directories are divided further, many are not", () => {
  const tree = mkdtempSync(join(tmpdir(), "polyfs-division-"));
  try {
    const names = Array.from({ length: 40 }, (_, i) => String(i));
    for (const name of names) {
      for (const parent of [".git/objects", "node_modules"])
        mkdirSync(join(tree, parent, name, "below"), { recursive: true });
    }
    writeFileSync(join(tree, ".git/HEAD"), "");
    writeFileSync(join(tree, "file"), "");
    const expected = [
      "./file",
      "./.git/HEAD",
      ...names.map(name => `./.git/objects/${name}`),
      ...names.map(name => `./node_modules/${name}`),
    ];
    const paths = pathsToLookAt(tree, Number.POSITIVE_INFINITY);
    expect(new Set(paths)).toEqual(new Set(expected));
    expect(paths).toHaveLength(expected.length);
    expect(pathsToLookAt(tree, 0)).toBe("changed");
  } finally {
    rmSync(tree, { recursive: true });
  }
});
