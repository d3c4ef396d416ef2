// The net effect of several changes, file by file: its state before the first and after the last. Files are followed
// through moves, also those of directories above them: one that was edited and moved is one entry, whatever came first.
import type { Kind } from "../fault.ts";
import type { ChangeRecord, RecordedFile } from "../workspace/archive/log.ts";
import type { Snapshot } from "../workspace/archive/snapshot.ts";
import { isWithin } from "../workspace/root.ts";

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

/** In path order. `records` come newest first, as they are listed. */
export function netOf(records: readonly ChangeRecord[]): NetFile[] {
  const net = new NetState();
  for (const { files, parents } of records.toReversed()) {
    for (const parent of parents) net.addParent(parent);
    for (const file of files) net.add(file);
  }
  return net.files();
}

class NetState {
  readonly #things = new Map<string, Thing>();
  /** What was there before the first change and is not anymore, by its path then. */
  readonly #lost = new Map<string, Thing>();

  addParent(at: string): void {
    if (!this.#things.has(at)) this.#things.set(at, { isParent: true });
  }

  add(file: RecordedFile): void {
    const { at, effect, from } = file;
    if (effect === "none") return;
    if (effect === "moved" && from !== undefined) this.#move(from, at, file);
    else if (effect === "removed") this.#remove(at, file.kind, file.before);
    else this.#change(at, file);
  }

  #change(at: string, { effect, before: held, replaced, after }: RecordedFile): void {
    const before = effect === "copied" ? replaced : held;
    const known = this.#things.get(at);
    if (known !== undefined) {
      const isOther = known.after !== undefined && !same(known.after, before);
      this.#things.set(at, {
        origin: known.origin,
        before: known.before ?? (known.origin === undefined ? undefined : before),
        after,
        mixed: known.mixed || isOther,
      });
      return;
    }
    const origin = this.#originOf(at);
    const lost = this.#lost.get(origin);
    this.#lost.delete(origin);
    if (lost !== undefined)
      this.#things.set(at, { ...lost, after, mixed: lost.mixed || before !== undefined });
    else this.#things.set(at, before === undefined ? { after } : { origin, before, after });
  }

  #move(from: string, at: string, { kind, before, after, replaced }: RecordedFile): void {
    const known = this.#things.get(from) ?? { origin: this.#originOf(from) };
    const isOther = known.after !== undefined && before !== undefined && !same(known.after, before);
    const inside = this.#takeWithin(from, kind);
    if (replaced !== undefined || this.#things.has(at)) this.#remove(at, kind, replaced);
    this.#things.set(at, {
      ...known,
      before: known.before ?? (known.origin === undefined ? undefined : before),
      after: after ?? known.after,
      mixed: known.mixed || isOther,
    });
    for (const [path, thing] of inside)
      if (path !== from) this.#things.set(at + path.slice(from.length), thing);
  }

  #remove(at: string, kind: Kind, before: Snapshot | undefined): void {
    if (!this.#things.has(at)) {
      const origin = this.#originOf(at);
      const lost = this.#lost.get(origin);
      this.#things.set(at, { origin, ...lost, after: before, mixed: lost !== undefined });
    }
    for (const [path, thing] of this.#takeWithin(at, kind)) {
      if (thing.origin === undefined) continue;
      const isOther = path === at && thing.after !== undefined && !same(thing.after, before);
      const known = path === at ? (thing.before ?? before) : thing.before;
      if (known === undefined) continue;
      const mixed = thing.mixed || (isOther && known.kind === "file");
      this.#lost.set(thing.origin, { origin: thing.origin, before: known, mixed });
    }
  }

  /** What is known of a path and, for a directory, of those below it; it is forgotten. */
  #takeWithin(at: string, kind: Kind): [string, Thing][] {
    const own = this.#things.get(at);
    const found: [string, Thing][] =
      kind === "directory"
        ? [...this.#things].filter(([path]) => isWithin(path, at))
        : own === undefined
          ? []
          : [[at, own]];
    for (const [path] of found) this.#things.delete(path);
    return found;
  }

  /** The path before the first change of something that only directories above it have moved. */
  #originOf(at: string): string {
    for (let end = at.lastIndexOf("/"); end > 0; end = at.lastIndexOf("/", end - 1)) {
      const above = this.#things.get(at.slice(0, end));
      if (above !== undefined) return above.origin === undefined ? at : above.origin + at.slice(end);
    }
    return at;
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

  files(): NetFile[] {
    this.#separate();
    const files: NetFile[] = [];
    const replaced = new Set<string>();
    for (const [at, { origin, before, after, mixed, isParent }] of this.#things) {
      const also = mixed ? { mixed } : {};
      if (isParent) continue;
      if (origin === undefined || origin === at) {
        const isKnown = origin === undefined || before !== undefined;
        if (isKnown && !same(before, after)) files.push({ at, before, after, ...also });
        continue;
      }
      const place = this.#originOf(at);
      const overwritten = this.#lost.get(place)?.before;
      if (overwritten !== undefined) replaced.add(place);
      const isKept = before === undefined || same(before, after);
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

function same(a: Snapshot | undefined, b: Snapshot | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === "symlink") return b.kind === "symlink" && a.target === b.target;
  return a.kind === "file" && b.kind === "file" && a.hash !== undefined && a.hash === b.hash;
}
