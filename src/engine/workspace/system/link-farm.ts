// Directories of numbered links to one target, for programs that take many sources and one target directory. All
// processes of a user share them: they hold nothing else, so a process that is killed leaves nothing behind that the
// next one does not use.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { atExit } from "../../at-exit.ts";
import { errnoOf } from "../errno.ts";
import { TimeSlice } from "../footprint/time-slice.ts";
import { display, Handle } from "../handle.ts";
import { mkdirSync, readdirSync, readlinkSync, rmdirSync, symlinkSync, unlinkSync } from "./calls.ts";
import { temporaryDirectory } from "./user.ts";

/** Makes such directories in one of the user's, which `open` opens. */
export class LinkFarms {
  readonly #open: () => Handle;
  /** If the user's directory cannot be used: one of this process. */
  #own: string | undefined;

  constructor(open: () => Handle) {
    this.#open = open;
  }

  /** A directory with links named `from` to `to`, both included, and maybe more. */
  async links(from: number, to: number, target: string): Promise<string> {
    using place = this.#place();
    const name = `links${target.replaceAll("/", "-")}`;
    unlessThere(() => mkdirSync(place.below(name), 0o700));
    using farm = Handle.open(place.below(name), { follow: false, directory: true });
    const slice = new TimeSlice();
    for (let link = from; link <= to; link++) {
      if (slice.isOver) await slice.turn(); // a link may take a fifth of a millisecond, and hundreds are made the first time
      lay(farm.below(String(link)), target);
    }
    return display(farm.whereabouts());
  }

  #place(): Handle {
    try {
      if (this.#own === undefined) return this.#open();
    } catch {
      const own = mkdtempSync(join(temporaryDirectory(), "polyfs-links-"));
      atExit(() => removeFarms(own));
      this.#own = own;
    }
    return Handle.open(this.#own, { follow: false, directory: true });
  }
}

/** Another process may do the same. */
function lay(link: ReturnType<Handle["below"]>, target: string): void {
  try {
    if (readlinkSync(link) === target) return;
    unlinkSync(link);
  } catch {
    // It is not there, or is no link: then the next call says so.
  }
  unlessThere(() => symlinkSync(target, link));
}

function unlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
}

function removeFarms(place: string): void {
  try {
    for (const name of readdirSync(place)) {
      using farm = Handle.open(join(place, name), { follow: false, directory: true });
      for (const link of readdirSync(farm.address)) unlinkSync(farm.below(link));
      rmdirSync(join(place, name));
    }
    rmdirSync(place);
  } catch {
    // The temporary files were cleaned up.
  }
}
