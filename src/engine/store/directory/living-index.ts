// What makes a list of thousands of workspaces quick: their descriptions in one file, and which of them live for as long
// as the directory of names is as it was. Only a copy of what the registry knows: without it a list is slower.
import { contentHash } from "../../text/version.ts";
import { type DirectoryStamp, isSame, isSettled, markOf } from "../../workspace/directory-stamp.ts";
import { sys } from "../../workspace/disk/syscalls.ts";
import { keepsTimes } from "../../workspace/system/file-system.ts";
import { writeNamedFile } from "../../workspace/system/named-file.ts";
import type { WorkspaceId } from "../store.ts";
import type { RememberedWorkspace } from "./about.ts";
import { valueAt } from "./durable-file.ts";

interface StoredListing {
  readonly stamp: DirectoryStamp;
  /** Those that lived. */
  readonly workspaces: readonly RememberedWorkspace[];
}

const maxBytes = 16 * 1024 * 1024;
/** The file is worth writing if it saves reading so many others. */
const worthwhile = 50;

export class LivingIndex {
  readonly #path: string;
  readonly #names: string;
  #known: { readonly stamp: DirectoryStamp; readonly living: readonly WorkspaceId[] } | undefined;
  #keepsTimes: boolean | undefined;

  constructor(path: string, names: string) {
    this.#path = path;
    this.#names = names;
  }

  /** What an earlier process wrote: of each workspace that lived then. Empty if there is nothing, or it is damaged. */
  load(): readonly RememberedWorkspace[] {
    if ((sys.lstat(this.#path)?.size ?? Number.POSITIVE_INFINITY) > maxBytes) return [];
    const stored = valueAt<StoredListing>(this.#path);
    if (stored === undefined || stored === "damaged") return [];
    const { stamp, workspaces } = stored;
    this.#known ??= { stamp, living: workspaces.map(({ about }) => about.id) };
    return workspaces;
  }

  /** Of the directory of names, as it is before a list is made; undefined if a later change might not show. */
  stamp(): DirectoryStamp | undefined {
    this.#keepsTimes ??= keepsTimes(this.#names);
    const [now, stat] = [Date.now(), this.#keepsTimes ? sys.lstat(this.#names) : undefined];
    return stat !== undefined && isSettled(stat, now) ? markOf(stat) : undefined;
  }

  /** Those that live; undefined if they have to be looked for. */
  living(stamp: DirectoryStamp | undefined): readonly WorkspaceId[] | undefined {
    return stamp && this.#known && isSame(stamp, this.#known.stamp) ? this.#known.living : undefined;
  }

  /** `read` is how many descriptions were read from files of their own. */
  remember(stamp: DirectoryStamp, workspaces: readonly RememberedWorkspace[], read: number): void {
    this.#known = { stamp, living: workspaces.map(({ about }) => about.id) };
    if (read < worthwhile) return;
    const json = JSON.stringify({ stamp, workspaces } satisfies StoredListing);
    if (json.length > maxBytes) return;
    try {
      writeNamedFile(this.#path, `${contentHash(Buffer.from(json))}\n${json}`, { flush: false });
    } catch {
      // a full or read-only disk: the next process reads the descriptions
    }
  }

  forget(): void {
    this.#known = undefined;
  }
}
