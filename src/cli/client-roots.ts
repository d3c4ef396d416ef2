// Where the start names no directory, the client's roots are what is served: each list that it gives becomes a
// workspace, and the engine has the latest. Earlier ones stay open until the end, because a running call may
// still hold them; a list that comes again is the same workspace again.
import { parse } from "node:path";
import { fileURLToPath } from "node:url";
import { plainWording, say } from "../contract/wording.ts";
import type { Engine } from "../engine/engine.ts";
import { Fault } from "../engine/fault.ts";
import { type Grant, Workspace } from "../engine/workspace/workspace.ts";
import type { Log } from "../mcp/log.ts";
import type { ClientRoot } from "../mcp/roots.ts";
import type { Config } from "./config.ts";

export interface ClientRootsEngine {
  readonly engine: Engine;
  /** Serves these roots from now on. */
  take(roots: readonly ClientRoot[]): void;
}

export function withClientRoots(start: Engine, config: Config, log: Log): ClientRootsEngine {
  const opened = new Map<string, Workspace>();
  let current = start.workspace;
  const engine: Engine = {
    ...start,
    get workspace() {
      return current;
    },
    [Symbol.dispose]() {
      for (const workspace of opened.values()) workspace[Symbol.dispose]();
      start[Symbol.dispose]();
    },
  };
  return {
    engine,
    take(roots) {
      const paths = roots.map(({ uri }) => pathOf(uri, log)).filter(path => path !== undefined);
      const key = paths.join("\0");
      current = opened.get(key) ?? open(paths, config, log);
      opened.set(key, current);
      for (const { path } of current.roots) log.info(`serving the client's root ${path}`);
    },
  };
}

function pathOf(uri: string, log: Log): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    log.warn(`the client's root ${JSON.stringify(uri)} is no file: URI of this machine`);
    return undefined;
  }
}

/** What cannot be served is left out, and told: the client has a user, but no way to take an error. */
function open(paths: readonly string[], config: Config, log: Log): Workspace {
  const access = config["read-only"] ? "read-only" : "read-write";
  const grants: Grant[] = [];
  for (const path of paths) {
    try {
      using alone = Workspace.open([{ path, access }]);
      const [root] = alone.roots;
      if (root === undefined) continue;
      if (parse(root.path).root === root.path && !config["allow-filesystem-root"])
        log.warn(`the client's root ${root.path} is the whole filesystem: add --allow-filesystem-root`);
      else grants.push({ path, access });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`the client's root cannot be served: ${say(plainWording, error)}`);
    }
  }
  return Workspace.open(grants);
}
