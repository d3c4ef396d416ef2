// A directory of numbered links to one target, for programs that take many sources and one target directory. It is
// created on first use, in the user's temporary directory, and removed with the process. Others may write beside it,
// so it is held open: links are created and removed through the handle.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { atExit } from "../../at-exit.ts";
import { Handle } from "../handle.ts";
import { rmdirSync, symlinkSync, unlinkSync } from "./calls.ts";
import { temporaryDirectory } from "./user.ts";

interface Farm {
  readonly path: string;
  readonly handle: Handle;
  readonly names: Set<number>;
}

const farms = new Map<string, Farm>();

/** A directory with links named `from` to `to`, both included, and maybe more. */
export function linkFarm(from: number, to: number, target: string): string {
  const farm = farms.get(target) ?? laidOut(target);
  for (let name = from; name <= to; name++) {
    if (farm.names.has(name)) continue;
    symlinkSync(target, farm.handle.below(String(name)));
    farm.names.add(name);
  }
  return farm.path;
}

function laidOut(target: string): Farm {
  const path = mkdtempSync(join(temporaryDirectory(), "polyfs-links-"));
  const farm: Farm = {
    path,
    handle: Handle.open(path, { follow: false, directory: true }),
    names: new Set(),
  };
  farms.set(target, farm);
  atExit(() => {
    try {
      for (const name of farm.names) unlinkSync(farm.handle.below(String(name)));
      rmdirSync(farm.path);
    } catch {
      // The temporary files were cleaned up.
    }
  });
  return farm;
}
