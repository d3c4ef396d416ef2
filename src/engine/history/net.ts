// The net effect of several changes, file by file: its state before the first and after the last. Files are followed
// through moves, also those of directories above them: one that was edited and moved is one entry, whatever came first.
//
// A directory that was created or removed as a whole is one entry, as it is recorded, until a part of it is the subject
// of another change: then it is listed entry by entry, so that each path has its own state before and after.
import type { Kind } from "../fault.ts";
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import type { Objects } from "../workspace/archive/objects.ts";
import { listedIn, type Snapshot, type SnapshotEntry } from "../workspace/archive/snapshot.ts";
import type { Steps } from "../workspace/footprint/time-slice.ts";
import { PathMap } from "../workspace/within.ts";

export interface NetFile {
  readonly at: string;
  /** Of a file that was moved, the content under its old path. The same as `after` where only its path changed. */
  readonly before: Snapshot | undefined;
  /** Undefined for what was moved and not changed otherwise, because moves do not record contents. */
  readonly after: Snapshot | undefined;
  /** The path it was moved from. */
  readonly from?: string;
  /** What a move has overwritten. */
  readonly replaced?: Snapshot;
  /** Between these changes something else changed it, too: the net effect contains that. */
  readonly mixed?: boolean;
}

/** A file or directory that the changes are about, at the path that it has so far. */
interface Thing {
  /** Its path before the first change. Undefined: the changes created it. */
  readonly origin?: string | undefined;
  /** What it held before it was first changed. Undefined if that is not known, or if it was created. */
  readonly before?: Snapshot | undefined;
  readonly after?: Snapshot | undefined;
  readonly mixed?: boolean | undefined;
  /** A directory that was created only because a file needed it: not shown. */
  readonly isParent?: true;
}

/** Where the records are from. */
export interface NetSource {
  readonly archive: { readonly objects: Objects };
  isShownWhole(at: string): boolean;
}

/**
 * In path order. `records` come newest first, as they are listed. A file that the rules do not show whole is listed if a
 * change touched it: comparing its contents would confirm a guess of what is hidden.
 */
export function* netOf(records: readonly ChangeRecord[], source: NetSource): Steps<NetFile[]> {
  const net = new NetState(source);
  for (const { files, parents } of records.toReversed()) {
    for (const parent of parents) net.addParent(parent);
    for (const file of files) {
      net.add(file);
      yield;
    }
  }
  return yield* net.files();
}

class NetState {
  readonly #objects: Objects;
  readonly #source: NetSource;
  readonly #things = new PathMap<Thing>();
  /** What was there before the first change and is not anymore, by its path then. */
  readonly #lost = new Map<string, Thing>();

  constructor(source: NetSource) {
    this.#source = source;
    this.#objects = source.archive.objects;
  }

  addParent(at: string): void {
    if (this.#things.has(at)) return;
    const lost = this.#takeLost(this.#originOf(at));
    const mode = lost?.before?.kind === "directory" ? lost.before.mode : 0o777;
    this.#things.set(at, lost ? { ...lost, after: { kind: "directory", mode } } : { isParent: true });
  }

  add(file: RecordedFile): void {
    const { at, effect, from } = file;
    if (effect === "none") return;
    if (effect === "moved" && from !== undefined) this.#move(from, at, file);
    else if (effect === "removed") this.#remove(at, file.kind, file.before);
    else this.#change(at, file);
  }

  #change(at: string, { effect, before: held, replaced, after }: RecordedFile): void {
    this.#listCreatedAbove(at);
    const before = effect === "copied" ? replaced : held;
    if (before?.kind === "directory" && after?.kind !== "directory") {
      this.#remove(at, "directory", before);
      this.#appear(at, after);
      return;
    }
    const known = this.#things.get(at);
    if (known === undefined) {
      this.#appear(at, after, before);
      return;
    }
    const isOther = known.after !== undefined && !this.#isHeld(at, known.after, before);
    this.#put(at, {
      origin: known.origin,
      before: known.before ?? (known.origin === undefined ? undefined : before),
      after,
      mixed: known.mixed || isOther,
    });
  }

  /** Only a directory that is new altogether stays one entry. */
  #put(at: string, thing: Thing): void {
    if (thing.origin === undefined) {
      this.#things.set(at, thing);
      return;
    }
    this.#things.set(at, { ...thing, after: withoutEntries(thing.after) });
    for (const entry of this.#entriesOf(thing.after)) this.#appear(`${at}/${entry.name}`, entry);
  }

  /** Something is at a path that nothing is known about. */
  #appear(at: string, after: Snapshot | undefined, before?: Snapshot): void {
    const origin = this.#originOf(at);
    const lost = this.#takeLost(origin);
    if (lost === undefined) {
      const isNew = before === undefined || this.#isInCreated(at);
      this.#put(at, isNew ? { after } : { origin, before, after });
    } else this.#put(at, { ...lost, after, mixed: lost.mixed || before !== undefined });
  }

  #move(from: string, at: string, { kind, before, after, replaced }: RecordedFile): void {
    this.#listCreatedAbove(from);
    this.#listCreatedAbove(at);
    const known = this.#things.get(from) ?? { origin: this.#originOf(from) };
    const isOther =
      known.after !== undefined && before !== undefined && !this.#isHeld(from, known.after, before);
    const inside = this.#takeWithin(from, kind);
    if (replaced !== undefined || this.#things.has(at)) this.#remove(at, replaced?.kind ?? kind, replaced);
    this.#things.set(at, {
      ...known,
      before: known.before ?? (known.origin === undefined ? undefined : before),
      after: after ?? known.after,
      mixed: known.mixed || isOther,
    });
    for (const [path, thing] of inside)
      if (path !== from) this.#things.set(at + path.slice(from.length), thing);
  }

  #remove(at: string, kind: Kind | "special", before: Snapshot | undefined): void {
    this.#listCreatedAbove(at);
    this.#find(at, before);
    for (const [path, thing] of this.#takeWithin(at, kind)) {
      if (thing.origin === undefined) continue;
      const isOther = path === at && thing.after !== undefined && !this.#isHeld(at, thing.after, before);
      const known = thing.before ?? thing.after;
      if (known === undefined) continue;
      const mixed = thing.mixed || (isOther && known.kind === "file");
      this.#lost.set(thing.origin, { origin: thing.origin, before: known, mixed });
    }
  }

  /** A path turns out to hold this. A directory is listed if anything is known of what is in it. */
  #find(at: string, found: Snapshot | undefined): void {
    const known = this.#things.get(at);
    const isListed = found?.kind === "directory" && this.#things.hasBelow(at);
    const now = isListed ? withoutEntries(found) : found;
    if (known === undefined) {
      const origin = this.#originOf(at);
      const lost = this.#takeLost(origin);
      if (lost !== undefined) this.#things.set(at, { ...lost, after: now, mixed: true });
      else this.#things.set(at, this.#isInCreated(at) ? { after: now } : { origin, after: now });
    } else if (known.origin !== undefined && known.before === undefined) {
      this.#things.set(at, { ...known, before: known.after ?? now, after: known.after ?? now });
    } else if (known.before?.kind === "directory" && now?.kind === "directory" && !isListed)
      this.#things.set(at, { ...known, before: { ...now, mode: known.before.mode } });
    if (isListed) for (const entry of this.#entriesOf(found)) this.#find(`${at}/${entry.name}`, entry);
  }

  /** Directories above a path that were created as a whole are listed from now on. */
  #listCreatedAbove(at: string): void {
    for (let end = at.indexOf("/", 1); end > 0; end = at.indexOf("/", end + 1)) {
      const above = at.slice(0, end);
      const thing = this.#things.get(above);
      const entries = thing?.origin === undefined ? this.#entriesOf(thing?.after) : [];
      if (thing === undefined || entries.length === 0) continue;
      this.#things.set(above, { ...thing, after: withoutEntries(thing.after) });
      for (const entry of entries)
        if (!this.#things.has(`${above}/${entry.name}`))
          this.#things.set(`${above}/${entry.name}`, { after: entry });
    }
  }

  /** What is lost at a path, which is taken again: of a directory, each entry is lost by itself from now on. */
  #takeLost(origin: string): Thing | undefined {
    const lost = this.#lost.get(origin);
    if (lost === undefined) return undefined;
    this.#lost.delete(origin);
    for (const entry of this.#entriesOf(lost.before)) {
      const at = `${origin}/${entry.name}`;
      if (!this.#lost.has(at)) this.#lost.set(at, { origin: at, before: entry });
    }
    return { ...lost, before: withoutEntries(lost.before) };
  }

  #entriesOf(snapshot: Snapshot | undefined): readonly SnapshotEntry[] {
    return (snapshot && listedIn(snapshot, this.#objects)) ?? [];
  }

  /** Whether the changes created the directory that a path is in. */
  #isInCreated(at: string): boolean {
    const above = this.#knownAbove(at)?.thing;
    return above !== undefined && above.origin === undefined;
  }

  /** What is known of a path and, for a directory, of those below it; it is forgotten. */
  #takeWithin(at: string, kind: Kind | "special"): [string, Thing][] {
    const own = this.#things.get(at);
    const below = kind === "directory" ? this.#things.within(at) : undefined;
    const found = below ?? (own === undefined ? [] : [[at, own] satisfies [string, Thing]]);
    for (const [path] of found) this.#things.delete(path);
    return found;
  }

  /** The path before the first change of something that only directories above it have moved. */
  #originOf(at: string): string {
    const above = this.#knownAbove(at);
    return above?.thing.origin === undefined ? at : above.thing.origin + at.slice(above.end);
  }

  /** The nearest directory above a path that something is known of, and where its path ends. */
  #knownAbove(at: string): { readonly thing: Thing; readonly end: number } | undefined {
    for (let end = at.lastIndexOf("/"); end > 0; end = at.lastIndexOf("/", end - 1)) {
      const thing = this.#things.get(at.slice(0, end));
      if (thing !== undefined) return { thing, end };
    }
    return undefined;
  }

  /** Where a file was moved over another and both paths are taken again, as after an undo, each path is compared. */
  #separate(): void {
    for (const [at, { origin, before, after, mixed }] of [...this.#things]) {
      if (origin === undefined || origin === at || before === undefined) continue;
      const place = this.#originOf(at);
      const [lost, made] = [this.#lost.get(place), this.#things.get(origin)];
      if (lost === undefined || made === undefined || made.origin !== undefined || made.isParent) continue;
      this.#things.set(origin, { ...made, origin, before });
      this.#things.set(at, { ...lost, after, mixed: lost.mixed || mixed });
      this.#lost.delete(place);
    }
  }

  /** What was created where something else had been is compared with it. */
  #joinLost(): void {
    for (const [at, thing] of [...this.#things].sort(([a], [b]) => a.length - b.length)) {
      if (thing.origin !== undefined) continue;
      const lost = this.#takeLost(at);
      if (lost === undefined) continue;
      const after = thing.isParent ? lost.before : thing.after;
      this.#put(at, { ...lost, after, mixed: lost.mixed || thing.mixed });
    }
  }

  /** Whether a path still held what the change before had left there, as far as that may be told. */
  #isHeld(at: string, left: Snapshot, found: Snapshot | undefined): boolean {
    const isFile = left.kind === "file" && found?.kind === "file";
    return (isFile && !this.#source.isShownWhole(at)) || same(left, found);
  }

  #isUnchanged(at: string, before: Snapshot | undefined, after: Snapshot | undefined, from = at): boolean {
    if (before?.kind !== "file" || after?.kind !== "file") return same(before, after);
    const isCompared = [at, from].every(one => this.#source.isShownWhole(one));
    return isCompared ? same(before, after) : before === after;
  }

  *files(): Steps<NetFile[]> {
    this.#separate();
    this.#joinLost();
    const files: NetFile[] = [];
    const replaced = new Set<string>();
    for (const [at, { origin, before, after, mixed, isParent }] of this.#things) {
      yield;
      const also = mixed ? { mixed } : {};
      if (isParent) continue;
      if (origin === undefined || origin === at) {
        const isKnown = origin === undefined || before !== undefined;
        if (isKnown && !this.#isUnchanged(at, before, after)) files.push({ at, before, after, ...also });
        continue;
      }
      const place = this.#originOf(at);
      const lost = this.#lost.get(place)?.before;
      const overwritten = lost?.kind === "directory" ? undefined : lost; // a directory is listed by itself
      if (overwritten !== undefined) replaced.add(place);
      const isKept = before === undefined || this.#isUnchanged(at, before, after, origin);
      if (isKept && overwritten === undefined && place === origin) continue; // its directory was moved
      files.push({
        at,
        from: origin,
        before: isKept ? after : before,
        after,
        ...(overwritten && { replaced: overwritten }),
        ...also,
      });
    }
    for (const [at, { before, mixed }] of this.#lost)
      if (!replaced.has(at)) files.push({ at, before, after: undefined, ...(mixed && { mixed }) });
    return files.sort((a, b) => (a.at < b.at ? -1 : 1));
  }
}

/** A directory without what is in it. */
function withoutEntries(snapshot: Snapshot | undefined): Snapshot | undefined {
  return snapshot?.kind === "directory" ? { kind: "directory", mode: snapshot.mode } : snapshot;
}

function same(a: Snapshot | undefined, b: Snapshot | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === "symlink") return b.kind === "symlink" && a.target === b.target;
  if (a.kind === "directory") return b.kind === "directory" && a.mode === b.mode;
  return a.kind === "file" && b.kind === "file" && a.hash !== undefined && a.hash === b.hash;
}
