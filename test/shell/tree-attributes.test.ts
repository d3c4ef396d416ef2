// Attributes of a copied tree: what has become something else since the copy must not hold up the rest.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { copyTreeAttributes } from "../../src/engine/shell/tree-attributes.ts";

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "polyfs-tree-attributes-"));
});
afterEach(() => {
  rmSync(place, { recursive: true, force: true });
});

test.runIf(process.platform === "linux")(
  "a file that became a pipe, a directory or nothing since it was copied is left out, and nothing waits for it",
  async () => {
    const [from, to] = [join(place, "from"), join(place, "to")];
    const names = ["became-a-directory", "became-a-pipe", "gone", "stayed"];
    for (const tree of [from, to]) {
      mkdirSync(tree);
      for (const name of names) writeFileSync(join(tree, name), name);
    }
    for (const name of names.slice(0, 3)) rmSync(join(from, name));
    execFileSync("mkfifo", [join(from, "became-a-pipe")]);
    mkdirSync(join(from, "became-a-directory"));
    writeFileSync(join(from, "became-a-directory", "inside"), "");

    await copyTreeAttributes(from, to, names);

    expect(readdirSync(to)).toEqual(names);
    for (const name of names) expect(statSync(join(to, name)).size).toBe(name.length);
  },
);
