// The plan of a commit as plain data: steps, content to stage, preconditions, and old content to remove afterwards.

import { Fault } from "../../fault.ts";
import { contentHash } from "../../text/version.ts";
import type { ByteRange } from "../archive/pending-record.ts";
import { mostWaiting } from "../archive/pending-record.ts";
import { concealedBelow, isConcealed } from "../concealed.ts";
import { type EntryRef, entryKey, type HeldDirectories } from "../disk/held-directories.ts";
import { contentAt } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { temporaryName } from "../disk/temporary.ts";
import { system } from "../errno.ts";
import { display, Handle } from "../handle.ts";
import { written } from "../name.ts";
import { mayLieIn, type Root } from "../root.ts";
import { kindOf } from "../stat.ts";
import { isWithinAny } from "../within.ts";
import type { Expectation } from "./change.ts";
import { ConcurrentChange } from "./concurrent-change.ts";
import type { PlannedEffect } from "./planned-effect.ts";
import type { ResolvedChanges } from "./resolved-changes.ts";
import type { StagedContent } from "./stage.ts";
import type { Aside } from "./state.ts";
import type { FileIdentity, MoveStep, StagedAttributes, Step } from "./step.ts";
import type { Target } from "./target.ts";

export const inlineBytes = 256 * 1024; // up to here the journal holds the bytes; larger files are flushed one by one
const inlineTotal = 32 * 1024 * 1024;

export type Stats = NonNullable<ReturnType<typeof sys.lstat>>;

/** What must still hold just before the commit. */
export interface Precondition {
  readonly entry: EntryRef;
  readonly given: string;
  readonly expect?: Expectation;
  /** The content that an edit was computed from: if it has changed, the edit is computed again. */
  readonly base?: Buffer | "absent";
  readonly known: FileIdentity | undefined;
}

/** Something that the commit removes or replaces. */
export interface Doomed {
  readonly target: Target;
  readonly stat: Stats;
  /** A directory is removed with everything in it. */
  readonly recursive: boolean;
  /** Nothing is lost: it was copied. */
  readonly isCopied?: true;
}

/** Old content: its temporary entry until the commit is over, and its range in the journal if it is there too. */
interface PutAside {
  readonly entry: EntryRef;
  readonly blob?: ByteRange;
}

/** A copy of a directory: the temporary name that it is made under, and its name once earlier steps are done. */
interface Copied {
  readonly staged: EntryRef;
  readonly copy: EntryRef;
}

export class CommitPlan {
  readonly places: HeldDirectories;
  readonly roots: readonly Root[];
  readonly steps: Step[] = [];
  /** Steps that come after all others. */
  readonly closings: Step[] = [];
  readonly stages: StagedContent[] = [];
  readonly preconditions: Precondition[] = [];
  readonly outcomes: PlannedEffect[] = [];
  /** New content that is not in place yet: removed when the commit fails. */
  readonly temps: EntryRef[] = [];
  /** Old content: removed when the commit is done. */
  readonly trash: EntryRef[] = [];
  readonly blobs: Uint8Array[] = [];
  readonly parents: string[] = [];
  /** Undo must be able to restore these. */
  readonly doomed: Doomed[] = [];
  /** Of the change that is being planned. */
  base: Buffer | "absent" | undefined;
  /** Directories are copied and removed where they would be renamed. */
  readonly copyDirectories: boolean;
  readonly #made = new Set<number>();
  readonly #paths = new Map<number, string>();
  readonly #freed = new Set<string>();
  readonly #leaving = new Set<string>();
  readonly #aside: Aside | undefined;
  #blobBytes = 0;

  constructor(resolvedChanges: ResolvedChanges, aside: Aside | undefined, copyDirectories: boolean) {
    this.copyDirectories = copyDirectories;
    this.places = resolvedChanges.places;
    this.#aside = aside;
    this.roots = resolvedChanges.roots;
  }

  /** Refuses changes in a directory that leaves with another change. */
  refuseInside(target: Target): void {
    const record = this.places.records[this.places.existing(target.entry.place)];
    if (record !== undefined && "at" in record && isWithinAny(record.at, this.#leaving)) {
      throw new Fault("duplicate_path", { path: target.path.given });
    }
  }

  /** The current state of an entry. */
  at(target: Target): Stats | undefined {
    if (this.places.isNew(target.entry.place) || this.isFreed(target)) return undefined;
    const stat =
      this.places.readAt(target.entry)?.stat ?? // confirmed before the commit
      system(target.path.given, () => sys.lstat(this.places.address(target.entry)));
    if (stat?.isDirectory() && isConcealed(stat))
      throw new Fault("protected_root", { path: target.path.given });
    return stat;
  }

  /** Whether an earlier change of the commit frees the entry. */
  isFreed({ entry }: Target): boolean {
    return this.#freed.has(entryKey(entry));
  }

  /** A temporary name for content that will move to `entry`. */
  temp(entry: EntryRef): EntryRef {
    const temp = { place: this.places.existing(entry.place), name: temporaryName() };
    this.temps.push(temp);
    return temp;
  }

  /** Keeps small content in the journal. */
  inline(bytes: Uint8Array, always = false): ByteRange | undefined {
    if (!always && (bytes.length > inlineBytes || this.#blobBytes + bytes.length > inlineTotal)) {
      return undefined;
    }
    const range = { at: this.#blobBytes, length: bytes.length };
    this.blobs.push(bytes);
    this.#blobBytes += bytes.length;
    return range;
  }

  /**
   * Where recovery finds the new bytes: small content in the journal, larger content in the staged file, verified by a
   * hash that the archive needs as well. Very large content is flushed first, because hashing it would take longer.
   */
  pledge(bytes: Uint8Array): Pick<StagedAttributes, "blob" | "hash"> {
    const blob = this.inline(bytes);
    if (blob !== undefined) return { blob };
    return bytes.length <= mostWaiting ? { hash: contentHash(bytes) } : {};
  }

  /**
   * The bytes of a file that will be replaced or removed, in the journal if they are few: after a power cut the file
   * system may show the new content and have lost the entry that kept the old one.
   */
  #was(entry: EntryRef, stat: Stats): ByteRange | undefined {
    if (!stat.isFile() || stat.size > inlineBytes || this.#blobBytes + stat.size > inlineTotal)
      return undefined;
    try {
      const bytes = contentAt(this.places.address(entry));
      return bytes && this.inline(bytes);
    } catch {
      return undefined; // it can be replaced without read permission
    }
  }

  /** Adds a move; content at its destination is kept aside. `content`: the bytes there, confirmed before the commit. */
  move(step: Omit<MoveStep, "do" | "replaces">, replaced?: Stats, content?: Buffer): PutAside | undefined {
    this.makeParents(step.to.place, step.given);
    if (replaced === undefined) {
      this.steps.push({ do: "move", ...step });
      return undefined;
    }
    const aside = temporaryName();
    const asidePlace = step.kind === "file" ? this.#placeAside(step.to, replaced) : undefined;
    const trash = { place: asidePlace ?? step.to.place, name: aside };
    this.trash.push(trash);
    const was = content?.length === replaced.size ? this.inline(content) : this.#was(step.to, replaced);
    const kept = { aside, ...(asidePlace !== undefined && { asidePlace }), ...(was && { was }) };
    const replaces = { known: knownOf(replaced), kind: kindOf(replaced), ...kept };
    this.steps.push({ do: "move", ...step, replaces });
    return { entry: trash, ...(was && { blob: was }) };
  }

  /**
   * Old content goes to the state directory if that is on the same disk: it can stay there until it is recorded. Not
   * a file with other hard links, through which another program could write to it.
   */
  #placeAside(to: EntryRef, replaced: Stats): number | undefined {
    const record = this.places.records[to.place];
    if (this.#aside === undefined || record === undefined || !("at" in record)) return undefined;
    const { handle, record: aside } = this.#aside;
    if (!replaced.isFile() || replaced.nlink > 1) return undefined;
    if (record.device !== aside.device || replaced.dev !== aside.device) return undefined;
    return this.places.lend(handle, aside);
  }

  /** Where old content can stay for a while. */
  get lasting(): number | undefined {
    return this.#aside && this.places.find(this.#aside.record);
  }

  /** Moves something out of its directory; it is removed when the commit is done. `copied`: a staged copy of it. */
  takeAway(
    target: Target,
    stat: Stats,
    { away = "tree", copied }: { readonly away?: "tree" | "empty"; readonly copied?: Copied } = {},
  ): PutAside {
    if (this.copyDirectories && stat.isDirectory())
      return this.#dismantle(target, stat, away, copied ?? this.#copy(target));
    const trash = { place: target.entry.place, name: temporaryName() };
    this.trash.push(trash);
    this.#freed.add(entryKey(target.entry));
    const was = this.#was(target.entry, stat);
    this.steps.push({
      do: "move",
      given: target.path.given,
      from: target.entry,
      to: trash,
      kind: kindOf(stat),
      away,
    });
    return { entry: trash, ...(was && { blob: was }) };
  }

  /** Stages a copy of a directory that is going to be removed. */
  #copy({ entry, path: { given } }: Target): Copied {
    const staged = this.temp(entry);
    this.trash.push(staged);
    this.stages.push({ kind: "copy", given, entry: staged, from: entry, verify: true, partial: true });
    return { staged, copy: staged };
  }

  #dismantle(target: Target, { ino }: Stats, away: "tree" | "empty", copied: Copied): PutAside {
    const begun = this.temp(target.entry);
    this.trash.push(begun);
    this.#freed.add(entryKey(target.entry));
    this.steps.push({
      do: "dismantle",
      given: target.path.given,
      at: target.entry,
      inode: ino,
      ...copied,
      begun,
      ...(away === "empty" && { empty: true }),
    });
    return { entry: copied.copy };
  }

  /** Refuses to remove a root or a directory above one, and a directory that other changes of the commit work in. */
  leaving(target: Target): void {
    const { given } = target.path;
    using handle = system(given, () => Handle.open(this.places.address(target.entry), { follow: false }));
    const where = handle.whereabouts();
    const held = this.roots.map(root => root.handle.whereabouts());
    const isAbove = (path: string) => mayLieIn(display(path), display(where));
    if (held.some(isAbove) || concealedBelow(where).length > 0) {
      throw new Fault("protected_root", { path: given });
    }
    this.#leaving.add(where);
  }

  makeParents(place: number, given: string): void {
    const record = this.places.records[place];
    if (record === undefined || !("within" in record) || this.#made.has(place)) return;
    this.makeParents(record.within, given);
    this.#made.add(place);
    this.steps.push({ do: "make", given, at: { place: record.within, name: record.name } });
    this.parents.push(this.pathOf(place));
  }

  /** Where a directory is or will be, for people. */
  pathOf(place: number): string {
    const known = this.#paths.get(place);
    if (known !== undefined) return known;
    const record = this.places.records[place];
    if (record === undefined) return "";
    const path =
      "at" in record ? display(record.at) : `${this.pathOf(record.within)}/${display(record.name)}`;
    this.#paths.set(place, path);
    return path;
  }

  /** Claims a new directory for a change that asks for it by name. */
  makes(entry: EntryRef): boolean {
    const place = this.places.newAt(entry);
    if (place === undefined) return true;
    if (this.#made.has(place)) return false;
    this.#made.add(place);
    return true;
  }
}

export function addPrecondition(
  plan: CommitPlan,
  target: Target,
  stat: Stats | undefined,
  expect: Expectation | undefined,
): void {
  const { given } = target.path;
  if (expect !== undefined && expect !== "absent" && !stat?.isFile()) {
    throw new Fault("changed_meanwhile", { path: given });
  }
  if (plan.places.isNew(target.entry.place) || plan.isFreed(target)) return;
  if (plan.base !== undefined && (plan.base === "absent") !== (stat === undefined))
    throw new ConcurrentChange(given);
  plan.preconditions.push({
    entry: target.entry,
    given,
    known: stat && knownOf(stat),
    ...(plan.base !== undefined && { base: plan.base }),
    ...(expect !== undefined && { expect }),
  });
}

/** The attributes of an entry before the commit moves it. */
export function describe(stat: Stats, plan?: CommitPlan, target?: Target) {
  const told = { kind: kindOf(stat), size: stat.size, mode: stat.mode & 0o7777, modified: stat.mtime };
  if (!stat.isSymbolicLink() || plan === undefined || target === undefined) return told;
  const link = system(target.path.given, () => sys.readlink(plan.places.address(target.entry)));
  return { ...told, target: written(link) };
}

function knownOf(stat: Stats): FileIdentity {
  return { inode: stat.ino, size: stat.size, modified: stat.mtimeMs };
}
