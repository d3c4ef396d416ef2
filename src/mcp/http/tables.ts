// The methods that a caller gets: the dialect of the path, with the tools that the caller is permitted. Made once
// for each caller and dialect, from the same table that stdio serves.
import type { Dialect } from "../../contract/dialect.ts";
import type { Settings } from "../../contract/settings.ts";
import type { Tool } from "../../contract/tool.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Activity } from "../../review/activity.ts";
import type { Principal } from "../auth/principal.ts";
import type { ServerIdentity } from "../method.ts";
import type { createServer, Server } from "../server.ts";
import { Refusal } from "./refusal.ts";

export interface TablesOptions {
  readonly engine: Engine;
  readonly info: ServerIdentity;
  /** The dialects below /mcp/. */
  readonly dialects: Readonly<Record<string, () => Promise<Dialect>>>;
  /** The dialect at /mcp; absent if none was chosen: then the caller's own, or none. */
  readonly dialect?: string;
  settings(dialect: Dialect): Settings;
  /** Whether the client can be notified between its requests. */
  readonly subscriptions: boolean;
  /** Tells review pages what is called, and asks the person there. */
  readonly activity?: Activity;
  /** Makes the methods of a dialect. */
  readonly create: typeof createServer;
}

export interface MethodTable {
  readonly dialect: Dialect;
  readonly server: Server;
  /** The tool that a call names, be it permitted or not. */
  tool(name: unknown): Tool | undefined;
}

export class Tables {
  readonly #options: TablesOptions;
  readonly #tables = new WeakMap<Principal, Map<string, Promise<MethodTable>>>();

  constructor(options: TablesOptions) {
    this.#options = options;
  }

  /** `named` is the dialect in the path, if there is one. Throws a `Refusal`. */
  async for(principal: Principal, named: string | undefined): Promise<MethodTable> {
    const { dialects } = this.#options;
    const own = principal.is.dialect;
    const name = named ?? own ?? this.#options.dialect;
    if (name === undefined || !Object.hasOwn(dialects, name)) {
      const paths = Object.keys(dialects).map(one => `/mcp/${one}`);
      throw new Refusal(404, `Not found; served paths: ${paths.join(", ")}`);
    }
    if (own !== undefined && name !== own) {
      throw new Refusal(403, `Forbidden: this token is for /mcp/${own}`);
    }
    const tables = this.#tables.get(principal) ?? new Map<string, Promise<MethodTable>>();
    this.#tables.set(principal, tables);
    const table = tables.get(name) ?? this.#make(principal, dialects[name]);
    tables.set(name, table);
    return await table;
  }

  async #make(principal: Principal, load: (() => Promise<Dialect>) | undefined): Promise<MethodTable> {
    if (load === undefined) throw new Refusal(404, "Not found");
    const { engine, info, create, subscriptions, activity } = this.#options;
    const dialect = await load();
    const given = this.#options.settings(dialect);
    // Without a sandbox a command reaches everything, whatever its caller may reach.
    const loose = principal.is.narrowed && given.commands !== "sandboxed";
    const settings: Settings = {
      ...given,
      commands: loose ? "none" : given.commands,
      ownWorkspaceOnly: principal.is.reach?.only !== undefined,
      boundWorkspace: principal.is.reach?.id,
      // Where the server was started means nothing to a caller from elsewhere.
      workingDirectory: principal.is.workspace.roots[0]?.path ?? given.workingDirectory,
    };
    const tools = dialect.tools.filter(
      tool => principal.is.permits(tool) && (tool.effect !== "runs" || settings.commands !== "none"),
    );
    const resources = dialect.resources && principal.is.browses;
    const narrowed = { ...dialect, tools, resources };
    const server = create({ dialect: narrowed, engine, settings, info, subscriptions, activity });
    const prefix = dialect.prefix ?? "";
    return {
      dialect,
      server,
      tool(name) {
        if (typeof name !== "string") return undefined;
        const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
        return dialect.tools.find(tool => tool.name === bare);
      },
    };
  }
}
