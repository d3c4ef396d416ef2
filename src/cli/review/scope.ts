// What `polyfs review` and `polyfs watch` look at: the directories that are named, or every directory that a server of
// this user has served. More are added when a server starts to serve them.
import { parse } from "node:path";
import { type Engine, openEngine } from "../../engine/engine.ts";
import { Fault } from "../../engine/fault.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { createLog } from "../../mcp/log.ts";
import { Refused } from "../../review/input.ts";
import { Review } from "../../review/review.ts";
import { servedRoots } from "../../review/served-roots.ts";
import type { Viewer } from "../../review/viewer.ts";
import type { Config } from "../config.ts";
import { openDirectories } from "../directories.ts";
import { choosePolicy } from "../policy/policy-choice.ts";
import { openReplicaAt } from "../replica-directory.ts";
import { UsageError } from "../usage-error.ts";

/** Requests that began with an earlier set of directories have ended by then. */
const graceMs = 60_000;

export class ReviewScope implements Viewer, Disposable {
  readonly mode = "local";
  readonly review: Review;
  readonly #config: Config;
  readonly #rules: ReturnType<typeof choosePolicy>;
  readonly #opened = new Set<Engine>();
  /** Directories that cannot be opened; they are not tried again. */
  readonly #without = new Set<string>();
  readonly #isFixed: boolean;
  #engine: Engine;
  /** A replica has one writer at a time. */
  #lastUndo: Promise<unknown> = Promise.resolve();

  constructor(config: Config) {
    this.#config = config;
    const log = createLog(config["log-level"]);
    this.#rules = choosePolicy(config.policy, true, process.env, log);
    this.#isFixed = config.grants.length > 0;
    this.#engine = this.#isFixed
      ? openDirectories(config, { withoutRoots: "usage" }, undefined, this.#rules)
      : this.#open([]);
    this.#opened.add(this.#engine);
    this.review = new Review(this.#engine.workspace, config["state-dir"]);
    if (this.#isFixed) return;
    this.review.onRoots = roots => this.#add(roots);
    const here = process.cwd();
    this.#add([...(parse(here).root === here ? [] : [here]), ...servedRoots(config["state-dir"])]);
  }

  get workspace(): Workspace {
    return this.#engine.workspace;
  }

  get mayUndo(): boolean {
    return this.workspace.roots.some(({ access }) => access === "read-write");
  }

  undoIn<T>(paths: readonly string[], action: (workspace: Workspace) => Promise<T>): Promise<T> {
    const run = () => this.#undo(paths, action);
    const undone = this.#lastUndo.then(run, run);
    this.#lastUndo = undone.catch(() => {});
    return undone;
  }

  async #undo<T>(paths: readonly string[], action: (workspace: Workspace) => Promise<T>): Promise<T> {
    const opened = await openReplicaAt(this.#config, paths, this.#rules).catch((error: unknown) => {
      if (error instanceof UsageError) throw new Refused(409, "shared_workspace", sentence(error.message));
      throw error;
    });
    await using replica = opened;
    return await action(replica?.workspace ?? this.workspace);
  }

  #add(paths: readonly string[]): void {
    const known = this.workspace.roots.map(({ path }) => path);
    const fresh = [...new Set(paths)].filter(path => !known.includes(path) && !this.#without.has(path));
    if (fresh.length === 0) return;
    const grants = fresh.filter(path => this.#canOpen(path));
    if (grants.length === 0) return;
    const before = this.#engine;
    this.#engine = this.#open([...known, ...grants]);
    this.#opened.add(this.#engine);
    this.review.widened(this);
    setTimeout(() => {
      this.#opened.delete(before);
      before[Symbol.dispose]();
    }, graceMs).unref();
  }

  /** One that is gone, or not this user's to read, is left out. */
  #canOpen(path: string): boolean {
    try {
      this.#open([path])[Symbol.dispose]();
      return true;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#without.add(path);
      return false;
    }
  }

  #open(paths: readonly string[]): Engine {
    const access = this.#config["read-only"] ? "read-only" : "read-write";
    const roots = paths.map((path): Grant => ({ path, access }));
    return openEngine({ roots, state: this.#config["state-dir"], rules: this.#rules });
  }

  [Symbol.dispose](): void {
    this.review[Symbol.dispose]();
    for (const engine of this.#opened) engine[Symbol.dispose]();
  }
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}
