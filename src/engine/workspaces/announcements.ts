// When it was announced that an unused fork will be dropped: an empty file for each, whose time says it. A fork is not
// dropped without notice, even if no server ran while its time was running out.
import { unlinkIfThere } from "../workspace/disk/if-there.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { writeNamedFile } from "../workspace/system/named-file.ts";
import type { Layout } from "./layout.ts";

/** A fork is announced when this share of its time is left. */
const share = 0.2;
/** At least so long before it is dropped, unless its whole time is short. */
const noticeMs = 86_400_000;

export class Announcements {
  readonly #layout: Layout;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** When a fork that was last used at a time will be dropped; undefined where that is not soon. */
  expiry(tree: string, used: number, unusedMs: number, now: number): number | undefined {
    const due = used + unusedMs;
    if (due - now >= unusedMs * share) return undefined;
    return Math.max(due, (this.#at(tree, used) ?? now) + Math.min(noticeMs, unusedMs * share));
  }

  /** Notes that it is announced now, unless it is since its last use. */
  announce(tree: string, used: number): void {
    if (this.#at(tree, used) === undefined) writeNamedFile(this.#path(tree), "", { flush: false });
  }

  forget(tree: string): void {
    unlinkIfThere(this.#path(tree));
  }

  #at(tree: string, used: number): number | undefined {
    const at = sys.lstat(this.#path(tree))?.mtimeMs;
    return at === undefined || at < used ? undefined : at;
  }

  #path(tree: string): string {
    return `${this.#layout.announced}/${tree}`;
  }
}
