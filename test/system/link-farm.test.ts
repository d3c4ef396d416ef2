// The directory of links by which extended attributes are looked for: shared, and never left behind.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Handle } from "../../src/engine/workspace/handle.ts";
import { LinkFarms } from "../../src/engine/workspace/system/link-farm.ts";
import { start } from "../mcp/wire.ts";
import { hasProc } from "../setup/proc.ts";

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "polyfs-link-farm-"));
});
afterEach(() => {
  rmSync(place, { recursive: true });
});

describe.runIf(hasProc)("a directory of links", () => {
  const farms = () => new LinkFarms(() => Handle.open(place, { follow: false, directory: true }));
  const names = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => String(from + i)).sort();

  it("holds all links for each caller that asks at the same time, in one process or several", async () => {
    const [one, two] = [farms(), farms()];
    const places = await Promise.all([one.links(3, 40, "/dev/null"), two.links(20, 60, "/dev/null")]);
    expect(new Set(places).size).toBe(1);
    expect(readdirSync(places[0]).sort()).toEqual(names(3, 60));
  });

  it("is made again as far as it was removed or leads elsewhere", async () => {
    const made = await farms().links(3, 5, "/dev/null");
    rmSync(join(made, "3"));
    rmSync(join(made, "4"));
    symlinkSync("/dev/zero", join(made, "4"));
    expect(await farms().links(3, 5, "/dev/null")).toBe(made);
    expect(readdirSync(made).map(name => readlinkSync(join(made, name)))).toEqual(
      Array.from({ length: 3 }, () => "/dev/null"),
    );
  });

  it("is one of the process if the user's cannot be opened", async () => {
    const made = await new LinkFarms(() => {
      throw new Error("not ours");
    }).links(3, 5, "/dev/null");
    expect(readdirSync(made).sort()).toEqual(names(3, 5));
  });
});

it.runIf(hasProc)(
  "a server that is killed after a change of several files leaves nothing among the temporary files",
  async () => {
    const [root, temporary] = [join(place, "root"), join(place, "tmp")];
    for (const directory of [root, temporary]) mkdirSync(directory);
    for (const name of ["a", "b", "c"]) writeFileSync(join(root, name), "one\n");
    const env = { TMPDIR: temporary, POLYFS_STATE_DIR: join(place, "state") };
    const edits = ["a", "b", "c"].map(path => `*** Update File: ${path}\n@@\n-one\n+two\n`).join("");
    const wire = await start({ roots: [root], env });
    await wire.initialize();
    const patch = `*** Begin Patch\n${edits}*** End Patch\n`;
    expect(await wire.call("apply_patch", { patch })).not.toMatchObject({ isError: true });
    wire.child.kill("SIGKILL");
    await wire.exited();
    expect(readFileSync(join(root, "c"), "utf8")).toBe("two\n");
    expect(readdirSync(temporary)).toEqual([]);
  },
);
