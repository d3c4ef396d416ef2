// Without directories on the command line, the client's roots are served; with directories, and if the contract says
// so, the roots narrow what is served, and never widen it. Each list from the client becomes a workspace, and the
// engine has the latest. Earlier ones stay open until the end, because a running call may still use them; a repeated
// list is the same workspace.
import { parse } from "node:path";
import { fileURLToPath } from "node:url";
import { plainWording, say } from "../contract/wording.ts";
import type { Engine } from "../engine/engine.ts";
import { Fault } from "../engine/fault.ts";
import type { Grant } from "../engine/workspace/grant.ts";
import { Root } from "../engine/workspace/root.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
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
      const make = config.grants.length > 0 ? narrowed : open;
      const served = opened.get(key) ?? make(paths, config, log, start.workspace);
      opened.set(key, served);
      current = served.roots.length > 0 || make === open ? served : start.workspace;
      for (const { path } of current.roots) log.info(`serving the client's root ${path}`);
    },
  };
}

function pathOf(uri: string, log: Log): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    log.warn(`the client's root ${JSON.stringify(uri)} is not a file: URI of this machine`);
    return undefined;
  }
}

/**
 * The intersection of the named directories and the client's. If it is empty, the named directories stay: the user
 * named them for this client.
 */
function narrowed(paths: readonly string[], _: Config, log: Log, named: Workspace): Workspace {
  const common = named.narrowed(paths.filter(path => isDirectory(path, log)));
  if (common.roots.length === 0)
    log.warn(
      "the client's roots have nothing in common with the named directories, which are served as they are",
    );
  return common;
}

function isDirectory(path: string, log: Log): boolean {
  try {
    new Root(path, "read-only")[Symbol.dispose]();
    return true;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    log.warn(`the client's root cannot be served: ${say(plainWording, error)}`);
    return false;
  }
}

/** Roots that cannot be served are skipped and logged: the client cannot receive an error here. */
function open(paths: readonly string[], config: Config, log: Log, start: Workspace): Workspace {
  const access = config["read-only"] ? "read-only" : "read-write";
  const grants: Grant[] = [];
  for (const path of paths) {
    try {
      using alone = start.elsewhere([{ path, access }]);
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
  return start.elsewhere(grants);
}
