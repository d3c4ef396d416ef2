// The page's routes, answered by the tools of the server behind the client: `list_changes` and `undo`.
import type { ChangeDetail, ChangeList, SessionInfo, UndoRequest, UndoResult } from "../../src/review/api.ts";
import { type PageTransport, RequestError } from "../state/request.ts";
import { type Bridge, isRecord } from "./bridge.ts";
import { type ListedChanges, readChanges } from "./change-text.ts";

export class EmbeddedServer {
  readonly #bridge: Bridge;
  /** Ids as they were listed, newest first: a change is asked for as the one before its successor. */
  #order: readonly string[] = [];

  constructor(bridge: Bridge) {
    this.#bridge = bridge;
  }

  readonly transport: PageTransport = async (route, body) => {
    const { pathname, searchParams } = new URL(route, "http://page/");
    const [, , what, id] = pathname.split("/");
    if (body !== undefined && what === "undo") return await this.#undo(body as UndoRequest);
    if (body === undefined && what === "session") return session;
    if (body === undefined && what === "changes")
      return id === undefined ? await this.#list(searchParams) : await this.#detail(id);
    throw new RequestError(404, { error: "not_found", message: "This is not available inside a client." });
  };

  async #list(query: URLSearchParams): Promise<ChangeList> {
    const before = query.get("before");
    const limit = Math.min(100, Number(query.get("limit") ?? 100));
    const { changes, hasMore } = await this.#changes({ limit, ...(before !== null && { before }) });
    const ids = changes.map(change => change.id);
    this.#order = before === null ? ids : [...this.#order, ...ids];
    const next = changes.at(-1)?.id;
    return { changes, ...(hasMore && next !== undefined && { next }) };
  }

  async #detail(id: string): Promise<ChangeDetail> {
    const at = this.#order.indexOf(id);
    const successor = at > 0 ? this.#order[at - 1] : undefined;
    const wanted = { limit: 1, diff: true, ...(successor !== undefined && { before: successor }) };
    const { changes, files } = await this.#changes(wanted);
    const [change] = changes;
    if (change?.id !== id)
      throw new RequestError(404, {
        error: "unknown_change",
        message: "The list has changed: select the change again.",
      });
    const sum = (key: "added" | "removed") => files.reduce((total, file) => total + (file[key] ?? 0), 0);
    return {
      change,
      difference: { files, omitted: [], added: sum("added"), removed: sum("removed") },
      notes: [],
    };
  }

  async #undo({ change, changes, path, hunks, preview }: UndoRequest): Promise<UndoResult> {
    await this.#call("undo", {
      ...(change !== undefined && { change }),
      ...(changes !== undefined && { changes }),
      ...(path !== undefined && { path }),
      ...(hunks !== undefined && { hunks }),
      ...(preview && { dry_run: true }),
    });
    const made = preview ? undefined : (await this.#changes({ limit: 1 })).changes[0];
    return {
      done: !preview,
      changes: made === undefined ? [] : [made.id],
      files: (made?.files ?? []).map(({ name, path: at }) => ({
        path: at,
        name,
        did: "changed back",
        hunks: [],
      })),
      collisions: [],
    };
  }

  async #changes(parameters: Readonly<Record<string, unknown>>): Promise<ListedChanges> {
    return readChanges(await this.#call("list_changes", parameters));
  }

  /** The text that a tool answers. */
  async #call(name: string, parameters: Readonly<Record<string, unknown>>): Promise<string> {
    const result = await this.#bridge.request("tools/call", { name, arguments: parameters });
    const { content, isError } = isRecord(result) ? result : {};
    const items = Array.isArray(content) ? content.filter(isRecord) : [];
    const text = items.map(one => (typeof one.text === "string" ? one.text : "")).join("\n");
    if (isError === true) throw new RequestError(409, { error: "refused", message: text });
    return text;
  }
}

const session: SessionInfo = {
  version: "",
  mode: "app",
  roots: [],
  may: { undo: true, answer: false, writeRules: false, note: false },
  servers: [],
  changes: 0,
  now: 0,
};
