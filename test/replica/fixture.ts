// Several machines in one process: each has a directory and a state of its own, and all share a store, whose
// connection can be cut.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Fault, type StoreFailure } from "../../src/engine/fault.ts";
import type { Policy } from "../../src/engine/policy/policy.ts";
import { openReplica } from "../../src/engine/replica/open-replica.ts";
import type { Replica } from "../../src/engine/replica/replica.ts";
import type { ReplicaOptions } from "../../src/engine/replica/replica-options.ts";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import type { AppendOptions, Entry, WorkspaceInfo, WorkspaceStore } from "../../src/engine/store/store.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

export class Fixture implements AsyncDisposable {
  readonly path = mkdtempSync(join(tmpdir(), "polyfs-replicas-"));
  readonly store = new DirectoryStore(join(this.path, "store"));
  readonly #machines: Machine[] = [];
  readonly #hints = new Set<Hint>();

  async machine(
    name: string,
    files: Record<string, string> = {},
    options: ReplicaOptions & { readonly policy?: Policy } = {},
    prepare: (line: Line) => void = () => {},
  ): Promise<Machine> {
    const root = join(this.path, name);
    mkdirSync(root, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const line = new Line(new DirectoryStore(join(this.path, "store")), this.#hints);
    prepare(line);
    const state = join(this.path, `state-${name}`);
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const { policy, ...more } = options;
    const rules = policy && { current: () => [policy] };
    const workspace = Workspace.open([{ path: root, access: "read-write" }], { state, rules });
    const replica = await openReplica({ store: line.store, name: "w", workspace, ...more });
    const machine = new Machine(root, workspace, replica, line);
    this.#machines.push(machine);
    return machine;
  }

  async [Symbol.asyncDispose]() {
    for (const { workspace, replica } of this.#machines) {
      await replica[Symbol.asyncDispose]();
      await workspace.settled();
      workspace[Symbol.dispose]();
    }
    rmSync(this.path, { recursive: true, force: true });
  }
}

type Hint = Parameters<WorkspaceStore["changed"]>[0];

/** The way to the store, which can be cut, or lose answers. What one line appends, all are told, as by a database. */
export class Line {
  readonly store: WorkspaceStore;
  isCut = false;
  /** What the store fails with while it is cut. */
  cutAs: StoreFailure = "unreachable";
  /** What appends fail with, while questions are answered: a standby, lost rights, a full disk. */
  refusesAs: StoreFailure | undefined;
  /** Is not told what others append. */
  isDeaf = false;
  /** Lets the next append happen and loses the answer. */
  losesNext = false;
  /** The next append gets no answer, and arrives just before the one after it. */
  delaysNext = false;
  #late: () => Promise<unknown> = async () => {};
  /** As with a head that no log leads to. */
  refusesAsStale = false;
  /** Appends wait for this. */
  holds: Promise<void> | undefined;
  /** How long each object takes, in milliseconds. */
  slowGets = 0;
  /** What the store says about the workspace, where it is not the truth. */
  forged: (info: WorkspaceInfo) => WorkspaceInfo = info => info;
  /** Is run after entries were read, before the answer. */
  afterEntries: () => Promise<void> = async () => {};
  /** Is run before the store is asked anything. */
  beforeEach: () => Promise<void> = async () => {};
  /** Is run before an entry is appended. */
  beforeAppend: (entry: Entry) => Promise<void> = async () => {};
  /** Is run before the bytes of objects are sent, by themselves or with an entry. */
  beforeSending: () => Promise<void> = async () => {};
  /** Is run after an entry was appended, before the answer. */
  afterAppend: () => Promise<void> = async () => {};

  constructor(store: WorkspaceStore, hints = new Set<Hint>()) {
    const cut = () => new Fault("store_unavailable", { reason: this.cutAs, detail: "cut" });
    this.store = new Proxy(store, {
      get: (target, key: keyof WorkspaceStore) => {
        const method = target[key] as (...args: unknown[]) => unknown;
        if (key === "changed")
          return (listener: Hint) => {
            const hint: Hint = (...news) => {
              if (!this.isDeaf) listener(...news);
            };
            hints.add(hint);
            return () => void hints.delete(hint);
          };
        return async (...args: unknown[]) => {
          await this.beforeEach();
          if (key === "append") await this.beforeAppend(args[2] as Entry);
          if (key === "put" || (key === "append" && (args[3] as AppendOptions)?.objects?.length))
            await this.beforeSending();
          if (this.isCut) throw cut();
          if (key === "append" && this.refusesAs !== undefined)
            throw new Fault("store_unavailable", { reason: this.refusesAs, detail: "no changes" });
          if (key === "append" && this.refusesAsStale) return { result: "stale" };
          if (key === "append") await this.holds;
          if (key === "append" && this.delaysNext) {
            this.delaysNext = false;
            this.#late = async () => method.apply(target, args);
            throw cut();
          }
          if (key === "append") {
            const late = this.#late;
            this.#late = async () => {};
            await late();
          }
          if (key === "get" && this.slowGets > 0)
            await new Promise(resolve => setTimeout(resolve, this.slowGets));
          const result = await method.apply(target, args);
          if (key === "entries") await this.afterEntries();
          if (key === "append") await this.afterAppend();
          if ((key === "info" || key === "find") && result !== undefined)
            return this.forged(result as WorkspaceInfo);
          const { revision } = (result ?? {}) as { readonly revision?: number };
          if (key === "append" && revision !== undefined)
            for (const hint of hints) hint(args[0] as string, revision);
          if (key === "append" && this.losesNext) {
            this.losesNext = false;
            throw cut();
          }
          return result;
        };
      },
    });
  }
}

/** Stops a machine with what an action changes answered and not sent. */
export async function stopWith(machine: Machine, action: () => Promise<unknown>): Promise<void> {
  let go = () => {};
  const held = new Promise<void>(resolve => {
    go = resolve;
  });
  machine.line.beforeAppend = () => held;
  await action();
  machine.line.isCut = true;
  go();
  await machine.replica[Symbol.asyncDispose]();
  await machine.workspace.settled();
}

export class Machine {
  readonly root: string;
  readonly workspace: Workspace;
  readonly replica: Replica;
  readonly line: Line;

  constructor(root: string, workspace: Workspace, replica: Replica, line: Line) {
    this.root = root;
    this.workspace = workspace.as({ action: "test", client: root });
    this.replica = replica;
    this.line = line;
  }

  text(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  put(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  write(path: string, text: string) {
    const change = { kind: "write", path: this.workspace.at(path), bytes: Buffer.from(text) } as const;
    return this.workspace.commit([change], { parents: true });
  }

  edit(path: string, change: (text: string) => string) {
    return this.workspace.edit(this.workspace.at(path), bytes => Buffer.from(change(String(bytes))));
  }

  /** Every file with its text, every link with its target, every directory, with modes. */
  tree(): Record<string, string> {
    const found: Record<string, string> = {};
    for (const name of readdirSync(this.root, { recursive: true, encoding: "utf8" }).sort()) {
      const path = join(this.root, name);
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o777).toString(8);
      if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
      else found[name] = stat.isDirectory() ? `${mode}/` : `${mode} ${readFileSync(path, "utf8")}`;
    }
    return found;
  }
}
