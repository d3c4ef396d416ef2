// The mounts that make a sandbox show the roots as granted, and keep it so. A read-only root in a read-write one, or
// a hidden path in one, must not be uncovered when a directory above it is renamed. Renaming a mount point fails
// (EBUSY), so each directory between the two is bound onto itself. Everything is found by handle: a directory that
// was renamed since the grant is mounted at its current path.
import { Buffer, isUtf8 } from "node:buffer";
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { bytesOf, display, Handle } from "../workspace/handle.ts";
import { type CommandRoots, isChangeable, type Restricted } from "../workspace/restricted.ts";
import { isWithin, type Root } from "../workspace/root.ts";

export interface Mount {
  readonly handle: Handle;
  /** Path inside the sandbox. */
  readonly place: string;
  readonly writable: boolean;
}

/** Something that is not seen. A file may show another text instead. */
export interface Cover {
  readonly place: string;
  readonly isDirectory: boolean;
  readonly text?: Buffer;
}

export class MountPlan implements Disposable {
  /** Bind mounts, outer directories first. */
  readonly mounts: readonly Mount[];
  /** Paths covered by something empty, after that. */
  readonly hidden: readonly Cover[];
  readonly #given: CommandRoots;
  readonly #roots: readonly RootMountPoint[];
  readonly #opened: Handle[] = [];

  /** Faults: `no_sandbox` if something was moved in between, or cannot be named. */
  constructor(given: CommandRoots, hidden: readonly Handle[], restricted: readonly Restricted[] = []) {
    this.#given = given;
    this.#roots = located(given.roots);
    try {
      const mounts = this.#roots.map(root => ({
        ...root,
        handle: root.root.handle,
        writable: isChangeable(given, root.root),
      }));
      const covers = restricted.flatMap(({ handle, seen }) =>
        typeof seen === "string" && seen !== "nothing"
          ? []
          : [{ handle, ...(seen !== "nothing" && { text: seen }) }],
      );
      const covered = this.#covered([...hidden.map(handle => ({ handle })), ...covers]);
      const ruled = this.#ruled(restricted);
      const kept = [...this.#roots.filter(root => !isWritable(root)), ...covered, ...ruled];
      const above = new Map(kept.flatMap(one => this.#above(one)).map(mount => [mount.place, mount]));
      for (const { place } of [...mounts, ...ruled]) above.delete(place);
      this.mounts = [...mounts, ...ruled, ...above.values()]
        .sort((a, b) => a.place.length - b.place.length)
        .map(named);
      this.hidden = covered.map(named);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Where a directory is seen inside. */
  placeOf({ path, root }: Directory): string {
    const found = this.#roots.find(one => one.root === root);
    const at = found?.at ?? root.handle.whereabouts();
    return display(found?.place ?? bytesOf(root.path)) + path.slice(display(at).length);
  }

  /** The hidden paths in a root, without those inside another hidden one. Of two for one path, the first holds. */
  #covered(hidden: readonly { handle: Handle; text?: Buffer }[]): (MountPoint & Cover)[] {
    const found = hidden.flatMap(({ handle, text }) => {
      const at = handle.whereabouts();
      const outer = this.#holding(at);
      const isDirectory = handle.stat().isDirectory();
      const cover = { isDirectory, ...(text && { text }) };
      return outer === undefined ? [] : [{ at, place: placeIn(outer, at), outer, ...cover }];
    });
    return found.filter(
      (one, i) => !found.some(({ at }, j) => (at === one.at ? j < i : isWithin(one.at, at))),
    );
  }

  /** Paths that a rule protects from changes, or frees inside something protected. */
  #ruled(restricted: readonly Restricted[]): (Mount & MountPoint)[] {
    return restricted.flatMap(({ handle, seen }) => {
      if (seen !== "read-only" && seen !== "read-write") return [];
      const at = handle.whereabouts();
      const outer = this.#holding(at);
      const place = outer && placeIn(outer, at);
      return place === undefined ? [] : [{ handle, at, outer, place, writable: seen === "read-write" }];
    });
  }

  /** The directories above a place up to its root, if they could be renamed. */
  #above({ at, outer }: MountPoint): (Mount & Pick<MountPoint, "place">)[] {
    if (outer === undefined || !isWritable(outer)) return [];
    const names = at
      .slice(outer.at.length + 1)
      .split("/")
      .slice(0, -1);
    return names.map((_, i) => {
      const below = names.slice(0, i + 1).join("/");
      const handle = this.#open(outer.root.handle.below(Buffer.from(below, "latin1")));
      const is = `${outer.at}/${below}`;
      if (handle?.whereabouts() !== is) throw moved(is);
      const writable = this.#given.isFreeForCommands(outer.root, display(is));
      return { handle, place: placeIn(outer, is), writable };
    });
  }

  #open(address: Parameters<typeof Handle.open>[0]): Handle | undefined {
    try {
      const handle = Handle.open(address, { follow: false, directory: true });
      this.#opened.push(handle);
      return handle;
    } catch {
      return undefined;
    }
  }

  /** The innermost root that holds something. */
  #holding(at: string): RootMountPoint | undefined {
    return innermost(this.#roots, at);
  }

  /** Closes the handles that it opened. The mounts stay. */
  [Symbol.dispose](): void {
    for (const handle of this.#opened.splice(0)) handle.close();
  }
}

interface MountPoint {
  /** Path outside: bytes as Latin-1. */
  readonly at: string;
  /** Path inside: bytes as Latin-1. */
  readonly place: string;
  /** The root that it is in. */
  readonly outer: RootMountPoint | undefined;
}

interface RootMountPoint extends MountPoint {
  readonly root: Root;
}

/** A root appears where it was granted, even if it was moved since; one inside another root appears inside that. */
function located(roots: readonly Root[]): RootMountPoint[] {
  const found: RootMountPoint[] = [];
  const all = roots.map(root => ({ root, at: root.handle.whereabouts() }));
  for (const { root, at } of all.sort((a, b) => a.at.length - b.at.length)) {
    const outer = innermost(found, at);
    found.push({ root, at, outer, place: outer === undefined ? bytesOf(root.path) : placeIn(outer, at) });
  }
  return found;
}

function innermost(roots: readonly RootMountPoint[], at: string): RootMountPoint | undefined {
  return roots.findLast(root => isWithin(at, root.at));
}

function placeIn({ at: outer, place }: MountPoint, at: string): string {
  return place + at.slice(outer.length);
}

function isWritable({ root }: RootMountPoint): boolean {
  return root.access === "read-write";
}

/** As an argument of a program, which is text. */
function named<T extends { readonly place: string }>(one: T): T {
  if (!isUtf8(Buffer.from(one.place, "latin1")))
    throw new Fault("no_sandbox", { problem: { is: "no_unicode", path: display(one.place) } });
  return { ...one, place: display(one.place) };
}

function moved(at: string): Fault {
  return new Fault("no_sandbox", { problem: { is: "moved", path: display(at) } });
}
