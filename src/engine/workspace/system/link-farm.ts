// A directory of numbered links to one target, for programs that take many sources and one target directory. It is
// created on first use, in the user's temporary directory, and removed with the process. Others may write beside it,
// so it is held open: links are created and removed through the handle.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { atExit } from "../../at-exit.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { Handle } from "../handle.ts";
import { rmdirSync, symlinkSync, unlinkSync } from "./calls.ts";
import { temporaryDirectory } from "./user.ts";

interface Farm {
  readonly path: string;
  readonly handle: Handle;
  readonly names: Set<number>;
  /** Ends with the last link that was asked for. */
  growing: Promise<void>;
}

const farms = new Map<string, Farm>();

/** A directory with links named `from` to `to`, both included, and maybe more. */
export async function linkFarm(from: number, to: number, target: string): Promise<string> {
  const farm = farms.get(target) ?? laidOut(target);
  const grown = farm.growing.then(() => grow(farm, from, to, target));
  farm.growing = grown.catch(() => {});
  await grown;
  return farm.path;
}

/** A link may take a fifth of a millisecond, and hundreds are made the first time. */
async function grow(farm: Farm, from: number, to: number, target: string): Promise<void> {
  const slice = new TimeSlice();
  for (let name = from; name <= to; name++) {
    if (farm.names.has(name)) continue;
    if (slice.isOver) await slice.turn();
    symlinkSync(target, farm.handle.below(String(name)));
    farm.names.add(name);
  }
}

function laidOut(target: string): Farm {
  const path = mkdtempSync(join(temporaryDirectory(), "polyfs-links-"));
  const farm: Farm = {
    path,
    handle: Handle.open(path, { follow: false, directory: true }),
    names: new Set(),
    growing: Promise.resolve(),
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
