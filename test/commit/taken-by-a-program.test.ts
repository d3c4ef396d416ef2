// A program creates a file at a free path in the moment before a commit takes the path. The file stays.
import { lstatSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { hasProc } from "../setup/proc.ts";
import { watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

// Without /proc, a link gets its name by a rename, which replaces.
it.runIf(hasProc).each<[string, (fixture: Fixture) => Change]>([
  ["a new file", fixture => fixture.write("to", "new\n")],
  ["a new link", fixture => ({ kind: "symlink", path: fixture.at("to"), target: "elsewhere" })],
  ["a moved file", fixture => ({ kind: "move", from: fixture.at("from"), to: fixture.at("to") })],
  ["a moved link", fixture => ({ kind: "move", from: fixture.at("link"), to: fixture.at("to") })],
  ["a copy", fixture => ({ kind: "copy", from: fixture.at("from"), to: fixture.at("to") })],
])("%s does not replace what a program creates at its path right before", async (_, change) => {
  using fixture = new Fixture({ from: "moved\n" });
  symlinkSync("from", join(fixture.inside, "link"));
  let isMade = false;
  const interrupt = (_count: number, name: string, [, to]: readonly unknown[]) => {
    if (isMade || (name !== "rename" && name !== "link") || !String(to).endsWith("/to")) return;
    writeFileSync(join(fixture.inside, "to"), "by a program\n");
    isMade = true;
  };
  const done = watching(interrupt, () =>
    fixture.commit([{ ...change(fixture), overwrite: false } as Change]),
  );
  await expect(done).rejects.toMatchObject({ code: "exists" });
  expect(isMade).toBe(true);
  expect(lstatSync(join(fixture.inside, "to")).isFile()).toBe(true);
  expect(readFileSync(join(fixture.inside, "to"), "utf8")).toBe("by a program\n");
  expect(readFileSync(join(fixture.inside, "from"), "utf8")).toBe("moved\n");
  expect(readlinkSync(join(fixture.inside, "link"))).toBe("from");
});
