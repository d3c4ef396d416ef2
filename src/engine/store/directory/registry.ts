// Which workspaces there are. A workspace is a directory by its id, and its description has a second name (a hard
// link) for as long as it lives: taking that name is creating it, losing it is dropping it, each in one step.
//
//   workspaces/<id>/about      what was said at its creation; its time is that of the drop
//   workspaces/<id>/log/<n>    its entries
//   names/<hash of the name>   the same file as `about`
//   listing                    a copy of the descriptions of those that live (living-index.ts)
//
// A copy of the store may have two files in place of one: then the id in the second says whose it is, and it is linked
// again.
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { Fault } from "../../fault.ts";
import { contentHash } from "../../text/version.ts";
import { makeDirectory } from "../../workspace/archive/folder.ts";
import { namesIn, unlinkIfThere } from "../../workspace/disk/if-there.ts";
import { sys } from "../../workspace/disk/syscalls.ts";
import { errnoOf } from "../../workspace/errno.ts";
import type { Creation, WorkspaceId, WorkspaceInfo } from "../store.ts";
import type { About, RememberedWorkspace } from "./about.ts";
import { create, draftPrefix, flushDirectory, valueAt } from "./durable-file.ts";
import { LivingIndex } from "./living-index.ts";
import { DirectoryLog } from "./log.ts";

export class Registry {
  readonly #path: string;
  readonly #logs = new Map<WorkspaceId, DirectoryLog>();
  readonly #remembered = new Map<WorkspaceId, RememberedWorkspace>();
  readonly #listing: LivingIndex;
  #isLoaded = false;
  /** How many descriptions were read. */
  #read = 0;

  constructor(path: string) {
    this.#path = path;
    for (const name of ["", "names", "workspaces", "collected"]) makeDirectory(join(path, name));
    this.#listing = new LivingIndex(join(path, "listing"), this.#names);
  }

  static isAt(path: string): boolean {
    return sys.lstat(join(path, "workspaces"))?.isDirectory() ?? false;
  }

  async create({ name, parent, about = {} }: Creation): Promise<WorkspaceInfo | "exists" | "no_parent"> {
    if (parent !== undefined) {
      const origin = this.info(parent.workspace);
      if (origin === undefined || origin.dropped !== undefined || origin.revision < parent.revision)
        return "no_parent";
    }
    const id = randomBytes(10).toString("hex");
    const own = join(this.#workspaces, id);
    for (const directory of [own, join(own, "log")]) makeDirectory(directory);
    const made: About = { id, name, ...(parent && { parent }), created: Date.now(), about };
    await create(join(own, "about"), own, made);
    await flushDirectory(this.#workspaces);
    if (!linkIfFree(this.#aboutFile(id), this.#nameFile(name))) {
      this.remove(id);
      return "exists";
    }
    await flushDirectory(this.#names);
    return { ...made, revision: 0, bytes: 0 };
  }

  /** Faults: `store_unavailable` where the name is taken by what cannot be read. */
  find(name: string): WorkspaceInfo | undefined {
    const about = valueAt<About>(this.#nameFile(name));
    if (about === undefined) return undefined;
    const info = about === "damaged" ? undefined : this.info(about.id);
    if (info !== undefined) return info;
    // It may have been dropped and collected since. A name is taken last and released first, so it is never left over.
    const now = valueAt<About>(this.#nameFile(name));
    if (now === undefined) return undefined;
    if (now !== "damaged" && about !== "damaged" && now.id !== about.id) return this.info(now.id);
    throw new Fault("store_unavailable", {
      reason: "damaged",
      detail: `the description of workspace ${name} is missing or does not fit its checksum`,
    });
  }

  info(id: WorkspaceId): WorkspaceInfo | undefined {
    const stat = /^[0-9a-f]+$/.test(id) ? sys.lstat(this.#aboutFile(id)) : undefined;
    const about = stat && this.#known(id);
    if (about === undefined || about === "damaged") return undefined;
    const info = this.#infoOf(about);
    return this.#isLive(about) ? info : { ...info, dropped: Math.floor(stat?.mtimeMs ?? 0) };
  }

  /**
   * The living workspaces, or the dropped ones; undefined takes the place of a workspace of the other kind. Listing the
   * dropped ones discards the cached list of living ones, so that a workspace restored in between is in one of the two.
   */
  *listed(dropped: boolean): Generator<WorkspaceInfo | undefined> {
    const stamp = this.#listing.stamp();
    if (dropped) this.#listing.forget();
    else this.#load();
    const living = this.#listing.living(stamp);
    const [found, before]: [RememberedWorkspace[], number] = [[], this.#read];
    for (const id of living ?? this.ids()) {
      const known = living === undefined ? this.#looked(id, dropped) : this.#known(id);
      if (known === undefined || known === "damaged") yield undefined;
      else {
        found.push(known);
        yield dropped ? this.info(id) : this.#infoOf(known);
      }
    }
    if (!dropped && living === undefined && stamp !== undefined)
      this.#listing.remember(stamp, found, this.#read - before);
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    for (const known of this.#listing.load())
      if (!this.#remembered.has(known.about.id)) this.#remembered.set(known.about.id, known);
  }

  /** One that is dropped or lives, as asked. One that lives costs one system call if it was seen before. */
  #looked(id: WorkspaceId, dropped: boolean): RememberedWorkspace | "damaged" | undefined {
    const known = this.#known(id);
    if (known === undefined || known === "damaged") return undefined;
    if (this.#hasName(known)) return dropped ? undefined : known;
    this.#remembered.delete(id); // in a copy of the store, its description is another file than remembered
    return this.#isLive(known) === dropped ? undefined : this.#known(id);
  }

  /** A list makes thousands: fields are set one by one, because a spread of what was parsed costs 7 µs. */
  #infoOf({ about: { id, name, parent, created, about } }: RememberedWorkspace): WorkspaceInfo {
    const { revision, bytes } = this.log(id).head;
    return parent === undefined
      ? { id, name, created, about, revision, bytes }
      : { id, name, parent, created, about, revision, bytes };
  }

  /** Also those whose description is damaged. */
  ids(): WorkspaceId[] {
    return namesIn(this.#workspaces);
  }

  isDamaged(id: WorkspaceId): boolean {
    return /^[0-9a-f]+$/.test(id) && valueAt<About>(this.#aboutFile(id)) === "damaged";
  }

  log(id: WorkspaceId): DirectoryLog {
    const log = this.#logs.get(id) ?? new DirectoryLog(`${this.#path}/workspaces/${id}/log`);
    if (this.#logs.size > 10_000) this.#logs.clear();
    this.#logs.set(id, log);
    return log;
  }

  async drop(id: WorkspaceId): Promise<boolean> {
    const about = this.#known(id);
    if (about === undefined || about === "damaged" || !this.#isLive(about)) return false;
    const [name, marker] = [this.#nameFile(about.about.name), join(this.#workspaces, id, "dropped")];
    try {
      sys.touch(name, new Date());
      sys.rename(name, marker);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return false; // another process was faster
      throw error;
    }
    // Another process has dropped it and given the name to a new workspace, all since it was looked at.
    if (idIn(marker) !== id) linkIfFree(marker, name);
    unlinkIfThere(marker);
    await flushDirectory(this.#names);
    return true;
  }

  async restore(id: WorkspaceId): Promise<"restored" | "exists" | "gone"> {
    const about = this.#known(id);
    if (about === undefined || about === "damaged") return "gone";
    if (this.#isLive(about)) return "restored";
    const name = this.#nameFile(about.about.name);
    try {
      if (!linkIfFree(this.#aboutFile(id), name)) return "exists";
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return "gone"; // collected at this moment
      throw error;
    }
    if (sys.lstat(this.#aboutFile(id)) === undefined) {
      unlinkIfThere(name); // collected at this moment
      return "gone";
    }
    await flushDirectory(this.#names);
    return "restored";
  }

  /** Takes a workspace that does not live out of the registry, then removes it. False if it has been restored. */
  remove(id: WorkspaceId): boolean {
    const [from, to] = [join(this.#workspaces, id), join(this.#path, "collected", id)];
    const about = this.#known(id);
    try {
      sys.rename(from, to);
    } catch (error) {
      if (errnoOf(error) !== "ENOENT") throw error;
    }
    const name = about === undefined || about === "damaged" ? undefined : this.#nameFile(about.about.name);
    if (name !== undefined && idIn(name) === id) {
      sys.rename(to, from);
      return false;
    }
    this.#logs.delete(id);
    this.#remembered.delete(id);
    this.removeLeftovers();
    return true;
  }

  /** Workspaces whose removal was interrupted, and drafts that a crash before this time left. */
  removeLeftovers(before = 0): void {
    for (const id of before === 0 ? [] : this.ids())
      for (const folder of [join(this.#workspaces, id), join(this.#workspaces, id, "log")])
        for (const name of namesIn(folder).filter(one => one.startsWith(draftPrefix)))
          if ((sys.lstat(join(folder, name))?.mtimeMs ?? before) < before) unlinkIfThere(join(folder, name));
    const collected = join(this.#path, "collected");
    for (const id of namesIn(collected)) {
      const own = join(collected, id);
      for (const name of namesIn(join(own, "log"))) unlinkIfThere(join(own, "log", name));
      rmdirIfThere(join(own, "log"));
      for (const name of namesIn(own)) unlinkIfThere(join(own, name));
      rmdirIfThere(own);
    }
  }

  get #names(): string {
    return join(this.#path, "names");
  }

  get #workspaces(): string {
    return join(this.#path, "workspaces");
  }

  /** It never changes, so it is read once. */
  #known(id: WorkspaceId): RememberedWorkspace | "damaged" | undefined {
    const seen = this.#remembered.get(id);
    if (seen !== undefined) return seen;
    const stat = /^[0-9a-f]+$/.test(id) ? sys.lstat(this.#aboutFile(id)) : undefined;
    const about = stat && valueAt<About>(this.#aboutFile(id));
    if (stat === undefined || about === undefined) return undefined;
    if (about === "damaged") return about;
    if (this.#remembered.size > 10_000) this.#remembered.clear();
    this.#read++;
    const known = { about, inode: stat.ino, device: stat.dev };
    this.#remembered.set(id, known);
    return known;
  }

  #isLive({ about }: RememberedWorkspace): boolean {
    const [own, nameFile] = [this.#aboutFile(about.id), this.#nameFile(about.name)];
    if (isSame(own, nameFile)) return true;
    if (sys.lstat(own) === undefined || idIn(nameFile) !== about.id) return false;
    linkAgain(own, nameFile);
    return true;
  }

  /** Whether the description of a workspace that is there has its second name. */
  #hasName({ about, inode, device }: RememberedWorkspace): boolean {
    const stat = sys.lstat(this.#nameFile(about.name));
    return stat?.ino === inode && stat.dev === device;
  }

  #aboutFile(id: WorkspaceId): string {
    return `${this.#path}/workspaces/${id}/about`;
  }

  #nameFile(name: string): string {
    return `${this.#path}/names/${contentHash(Buffer.from(name))}`;
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [sys.lstat(one), sys.lstat(other)];
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

/** The id in a description; undefined if there is none that can be read. */
function idIn(path: string): WorkspaceId | undefined {
  const about = valueAt<About>(path);
  return about === undefined || about === "damaged" ? undefined : about.id;
}

/** Makes `to`, which has the same content, another name of `from`. */
function linkAgain(from: string, to: string): void {
  const draft = join(dirname(to), `${draftPrefix}${randomBytes(8).toString("hex")}`);
  sys.link(from, draft);
  sys.rename(draft, to);
  unlinkIfThere(draft); // where another process was faster, both are one file, and renaming does nothing
}

function linkIfFree(from: string, to: string): boolean {
  try {
    sys.link(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return false;
    throw error;
  }
}

function rmdirIfThere(path: string): void {
  try {
    sys.rmdir(path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}
