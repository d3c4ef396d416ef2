// A caller over HTTP, and what it may do. Created once for each grant (a line of the token file, a set of claims) and
// shared by its requests; its resources are released when it has been retired and no request uses it.
import type { Tool } from "../../contract/tool.ts";
import type { Access } from "../../engine/workspace/root.ts";
import type { PolicySource } from "../../engine/workspace/rules.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { Refusal } from "../http/refusal.ts";

/** The longest time that a timer can wait. */
const longestMs = 2 ** 31 - 1;

export interface WorkspaceReach {
  /** The only workspace, with the forks of it; absent: all. */
  readonly only?: string | undefined;
  /** The id of that workspace, where it is known: the grant is for it, whatever has the name by now. */
  readonly id?: string | undefined;
  readonly access: Access;
  /** Rules that hold for it besides those of the server. */
  readonly rules?: PolicySource | undefined;
}

export interface PrincipalOptions {
  /** The same for all that one caller sends: sessions belong to it, and limits count by it. */
  readonly owner: string;
  /** For history, audit and logs; absent if callers are not identified. */
  readonly name?: string;
  readonly workspace: Workspace;
  /** Whether the workspace is this caller's alone: less than is served, and closed with the caller. */
  readonly narrowed: boolean;
  /** Which workspaces it may enter, where those are served; absent: none. */
  readonly reach?: WorkspaceReach | undefined;
  /** The only dialect that is served to it. */
  readonly dialect?: string;
  /** The principal that it is in a workspace: its grant is the same. */
  readonly within?: Principal;
  /** Its expiry, in milliseconds since 1970. */
  readonly expires?: number;
  /** Calls at once, and in a minute; absent: no limit of its own. */
  readonly concurrency?: number;
  readonly perMinute?: number;
  /** The most bytes that a workspace may hold after a change of it; absent: no limit of its own. */
  readonly maxBytes?: number | undefined;
  /** Whether it may read files otherwise than by tools: as resources. */
  readonly browses: boolean;
  /** What it may review, and undo changes in; absent where the review page is not for it. Closed with the caller. */
  readonly reviews?: Workspace | undefined;
  permits(tool: Tool): boolean;
  /** The answer to a call of a tool that is not permitted. */
  refuse(tool: Tool): Refusal;
}

export class Principal {
  readonly is: PrincipalOptions;
  readonly #watchers = new Set<() => void>();
  #uses = 0;
  #retired = false;
  readonly #release: (() => void) | undefined;
  #expires = 0;
  #expiry: NodeJS.Timeout | undefined;
  /** Its grant has ended: it must not be given to another request. */
  ended = false;

  constructor(options: PrincipalOptions) {
    this.is = options;
    this.#release = options.within?.onEnd(() => this.end());
    if (options.expires !== undefined) this.lastUntil(options.expires);
  }

  /** It ends at this time (milliseconds since 1970), unless it lasts longer already. */
  lastUntil(expires: number): void {
    if (this.ended || expires <= this.#expires) return;
    this.#expires = expires;
    this.#waitForEnd();
  }

  #waitForEnd(): void {
    clearTimeout(this.#expiry);
    const left = this.#expires - Date.now();
    const next = () => (left > longestMs ? this.#waitForEnd() : this.end());
    this.#expiry = setTimeout(next, Math.min(Math.max(0, left), longestMs)).unref();
  }

  /** Whether anything runs or is kept for it. */
  get isUsed(): boolean {
    return this.#uses > 0;
  }

  /** Keeps its workspace open until the result is disposed of. */
  use(): Disposable {
    this.#uses++;
    let used = true;
    return {
      [Symbol.dispose]: () => {
        if (used) this.#uses--;
        used = false;
        this.#closeIfUnused();
      },
    };
  }

  /** Calls `listener` when its grant ends, or has ended. Returns how to stop that. */
  onEnd(listener: () => void): () => void {
    if (this.ended) queueMicrotask(listener);
    else this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  /** Its grant is gone or has changed: what runs for it is stopped, and no new request will come. */
  end(): void {
    this.ended = true;
    clearTimeout(this.#expiry);
    for (const listener of [...this.#watchers]) listener();
    this.retire();
  }

  /** No new request will come for it; what runs may finish. */
  retire(): void {
    this.#retired = true;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (!this.#retired || this.#uses > 0) return;
    this.#release?.();
    const { workspace, narrowed, reviews } = this.is;
    if (narrowed) workspace[Symbol.dispose]();
    if (reviews !== workspace) reviews?.[Symbol.dispose]();
  }
}
