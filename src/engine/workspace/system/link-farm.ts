// A directory of numbered links that all lead to one place, for programs that take many sources and one target
// directory. It is made when first asked for, in the user's temporary directory, and removed with the process.
import { mkdtempSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Farm {
  readonly path: string;
  readonly names: Set<number>;
}

const farms = new Map<string, Farm>();

/** A directory with links named `from` to `to`, both included, and maybe more. */
export function linkFarm(from: number, to: number, target: string): string {
  const farm = farms.get(target) ?? laidOut(target);
  for (let name = from; name <= to; name++) {
    if (farm.names.has(name)) continue;
    symlinkSync(target, join(farm.path, String(name)));
    farm.names.add(name);
  }
  return farm.path;
}

function laidOut(target: string): Farm {
  const farm: Farm = { path: mkdtempSync(join(tmpdir(), "polyfs-links-")), names: new Set() };
  farms.set(target, farm);
  process.once("exit", () => {
    try {
      for (const name of farm.names) unlinkSync(join(farm.path, String(name)));
      rmdirSync(farm.path);
    } catch {
      // Somebody has tidied up the temporary files.
    }
  });
  return farm;
}
