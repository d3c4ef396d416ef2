// Which workspace a request is for: the one in its path (/mcp/w/NAME), or the one of its token. A caller in a workspace
// is a principal of its own, whose files are those of the workspace and nothing else.

import type { Engine } from "../../engine/engine.ts";
import { Fault } from "../../engine/fault.ts";
import { isOutOfReach } from "../../engine/replica/store-faults.ts";
import { orTooLate } from "../../engine/replica/too-late.ts";
import { runningCommands } from "../../engine/shell/living.ts";
import type { Access } from "../../engine/workspace/root.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { WorkspaceRecord } from "../../engine/workspaces/record.ts";
import type { Workspaces } from "../../engine/workspaces/workspaces.ts";
import { beginning } from "../../host/masked-tokens.ts";
import { Principal } from "../auth/principal.ts";
import { Refusal } from "./refusal.ts";

interface Entered {
  readonly principal: Principal;
  readonly record: WorkspaceRecord;
  usedAt: number;
  touchedAt: number;
}

/** Workspaces unused for this long are closed; the next request opens them again. */
const defaultIdleMs = 5 * 60_000;
/** The last use is noted this often. */
const touchMs = 60_000;
/** How long a caller who is in a workspace waits for a store that does not answer. */
const patienceMs = 1500;

export class WorkspacePrincipals implements Disposable {
  readonly #engine: Engine;
  readonly #inPlace: boolean;
  readonly #idleMs: number;
  readonly #entered = new Map<Principal, Map<string, Promise<Entered>>>();
  readonly #timer: NodeJS.Timeout | undefined;
  /** The last question to the store got no answer. */
  #isStoreLost = false;

  /** `inPlace`: commands may run, or files be written without being replaced. */
  constructor(engine: Engine, inPlace: boolean, idleMs = defaultIdleMs) {
    this.#engine = engine;
    this.#inPlace = inPlace;
    this.#idleMs = idleMs;
    const { workspaces } = engine;
    this.#timer = workspaces && setInterval(() => void this.#closeIdle(workspaces), idleMs).unref();
  }

  /** `named` is the workspace in the path. Throws a `Refusal`. */
  async for(principal: Principal, named: string | undefined): Promise<Principal> {
    const { workspaces } = this.#engine;
    const { reach, workspace } = principal.is;
    const name = named ?? reach?.only;
    if (workspaces === undefined) {
      if (name === undefined) return principal;
      throw new Refusal(404, "Not found: no workspaces are served");
    }
    if (name === undefined) {
      if (workspace.roots.length > 0) return principal;
      throw new Refusal(404, "Not found: name a workspace, /mcp/w/NAME");
    }
    if (reach === undefined) throw new Refusal(403, "Forbidden: this token is for directories");
    const entered = await this.#readyAs(workspaces, principal, name);
    const { record } = entered;
    if (Date.now() - entered.touchedAt > touchMs) {
      workspaces.touch(record);
      entered.touchedAt = Date.now();
    }
    entered.usedAt = Date.now();
    return entered.principal;
  }

  /** A workspace that is dropped while it is opened is answered as one that was dropped before. */
  async #readyAs(workspaces: Workspaces, principal: Principal, name: string): Promise<Entered> {
    try {
      const entered = await this.#enteredAs(workspaces, principal, name);
      if (workspaces.isShared) await workspaces.ready(entered.record);
      return entered;
    } catch (error) {
      if (error instanceof Fault && !isOutOfReach(error)) await this.#permitted(workspaces, name, principal);
      throw error;
    }
  }

  /**
   * While the store cannot be asked, a caller stays in the workspace that it entered by this name, and does not wait: its
   * reads continue there. The copy of that workspace finds out when the store is back.
   */
  async #enteredAs(workspaces: Workspaces, principal: Principal, name: string): Promise<Entered> {
    if (this.#isStoreLost) {
      const before = await this.#lastEntered(principal, name);
      if (before !== undefined && isOutOfReach(before.principal.is.workspace.replication?.staleCause))
        return before;
    }
    let isAnswered = false;
    const asked = this.#asked(workspaces, principal, name);
    const answered = asked.then(() => {
      isAnswered = true;
      this.#isStoreLost = false;
    });
    const lose = () => {
      this.#isStoreLost = true;
    };
    await orTooLate(answered, patienceMs, lose).catch(error => {
      if (!isOutOfReach(error)) throw error;
      lose();
    });
    const before = isAnswered ? undefined : await this.#lastEntered(principal, name);
    return before ?? (await asked);
  }

  async #lastEntered(principal: Principal, name: string): Promise<Entered | undefined> {
    const all = [...(this.#entered.get(principal)?.values() ?? [])];
    const found = await Promise.all(all.map(opening => opening.catch(() => undefined)));
    return found.findLast(entered => entered?.record.name === name);
  }

  async #asked(workspaces: Workspaces, principal: Principal, name: string): Promise<Entered> {
    const { record, own } = await this.#permitted(workspaces, name, principal);
    for (;;) {
      if (principal.ended) throw grantEnded();
      const opening = this.#enter(workspaces, principal, record, own);
      const entered = await opening;
      // It may have been closed at this very moment.
      if (this.#entered.get(principal)?.get(record.id) !== opening) continue;
      entered.usedAt = Date.now();
      return entered;
    }
  }

  /** A token for a workspace is for the forks of it, too: of that workspace, not of another that has its name later. */
  async #permitted(
    workspaces: Workspaces,
    name: string,
    { is: { owner, reach } }: Principal,
  ): Promise<{ readonly record: WorkspaceRecord; readonly own?: string }> {
    const record = await workspaces.find(name).catch(unlessUnknown);
    const { only, id } = reach ?? {};
    if (only === undefined) {
      if (record !== undefined) return { record };
      throw new Refusal(404, `Not found: there is no workspace ${beginning(name, 100)}`);
    }
    const own = await (id === undefined ? workspaces.boundTo(owner, only) : workspaces.byId(id));
    if (own === undefined)
      throw new Refusal(403, `Forbidden: the workspace ${only} of this token does not exist, or was dropped`);
    // Whether another workspace exists is not for this caller to know.
    if (record === undefined || !(await workspaces.descends(record, own)))
      throw new Refusal(403, `Forbidden: this token is for the workspace ${only}`);
    return { record, own: own.id };
  }

  #enter(
    workspaces: Workspaces,
    principal: Principal,
    record: WorkspaceRecord,
    own: string | undefined,
  ): Promise<Entered> {
    const all = this.#entered.get(principal) ?? this.#watched(principal);
    const known = all.get(record.id);
    if (known !== undefined) return known;
    const made = this.#open(workspaces, principal, record, own);
    all.set(record.id, made);
    made.catch(() => all.delete(record.id));
    return made;
  }

  async #open(
    workspaces: Workspaces,
    principal: Principal,
    record: WorkspaceRecord,
    own: string | undefined,
  ): Promise<Entered> {
    const { is } = principal;
    await (this.#inPlace ? workspaces.readyForCommands(record) : workspaces.ready(record));
    workspaces.touch(record);
    const opened = this.#tree(workspaces, record, is, is.reach?.access ?? "read-only");
    const workspace = is.maxBytes === undefined ? opened : opened.limitedTo(is.maxBytes);
    const { expires: _, ...options } = is;
    const inside = new Principal({
      ...options,
      reviews: is.reviews && this.#reviewed(workspaces, record, is, workspace),
      ...(is.reach && { reach: { ...is.reach, id: own } }),
      owner: `${is.owner} in ${record.id}`,
      workspace,
      narrowed: true,
      within: principal,
    });
    return { principal: inside, record, usedAt: Date.now(), touchedAt: Date.now() };
  }

  /** The files of a workspace, under the rules of a grant. */
  #tree(
    workspaces: Workspaces,
    record: WorkspaceRecord,
    { reach }: Principal["is"],
    access: Access,
  ): Workspace {
    const tree = workspaces.openTree(record, this.#engine.workspace, access);
    if (reach?.rules === undefined) return tree;
    using _ = tree;
    return tree.under(reach.rules);
  }

  /** The page undoes what agents did, whatever the caller's own tools may do. */
  #reviewed(
    workspaces: Workspaces,
    record: WorkspaceRecord,
    is: Principal["is"],
    workspace: Workspace,
  ): Workspace {
    const isSame = is.reach?.access === "read-write" && is.maxBytes === undefined;
    return isSame ? workspace : this.#tree(workspaces, record, is, "read-write");
  }

  #watched(principal: Principal): Map<string, Promise<Entered>> {
    const all = new Map<string, Promise<Entered>>();
    this.#entered.set(principal, all);
    principal.onEnd(() => this.#entered.delete(principal));
    return all;
  }

  /** Closes what is unused or was dropped. */
  async #closeIdle(workspaces: Workspaces): Promise<void> {
    const closed = new Set<string>();
    for (const all of this.#entered.values()) {
      for (const [id, opening] of all) {
        const entered = await opening.catch(() => undefined);
        if (entered === undefined) continue;
        const isGone = await isDropped(workspaces, id);
        if (isGone === undefined) continue;
        const isIdle = !entered.principal.isUsed && Date.now() - entered.usedAt >= this.#idleMs;
        if (isGone) {
          entered.principal.end();
          await workspaces.release(id);
        } else if (!isIdle) continue;
        else entered.principal.retire();
        all.delete(id);
        closed.add(id);
      }
    }
    for (const id of closed)
      await workspaces.releaseIdle(id, () => runningCommands() === 0 && !this.#isEntered(id));
  }

  #isEntered(id: string): boolean {
    return [...this.#entered.values()].some(all => all.has(id));
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    for (const all of this.#entered.values())
      for (const one of all.values()) one.then(({ principal }) => principal.end()).catch(() => {});
  }
}

/** The token was removed or has expired since the request was identified by it. */
function grantEnded(): Refusal {
  return new Refusal(401, "Unauthorized: the token is not valid any more", {
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}

/** Undefined while the store cannot be asked: callers keep what they have then. */
async function isDropped({ store }: Workspaces, id: string): Promise<boolean | undefined> {
  try {
    const info = await store.info(id);
    return info === undefined || info.dropped !== undefined;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return undefined;
  }
}

function unlessUnknown(error: unknown): undefined {
  if (!Fault.is(error, "unknown_workspace")) throw error;
}
