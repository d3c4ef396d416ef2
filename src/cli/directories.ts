// Opens the directories named at the start: a directory that cannot be served is reported before any client connects.
import { parse } from "node:path";
import type { Dialect } from "../contract/dialect.ts";
import { plainWording, say } from "../contract/wording.ts";
import { type Engine, type EngineOptions, openEngine } from "../engine/engine.ts";
import { Fault } from "../engine/fault.ts";
import type { Grant } from "../engine/workspace/grant.ts";
import { type Access, isWithin, Root } from "../engine/workspace/root.ts";
import { canonicalPath } from "../engine/workspace/system/named-file.ts";
import type { Config } from "./config.ts";
import { logOf } from "./log.ts";
import { ownDirectories } from "./own-directories.ts";
import type { ChosenPolicy } from "./policy/policy-choice.ts";
import { UsageError } from "./usage-error.ts";

export function openDirectories(
  config: Config,
  dialect: Pick<Dialect, "withoutRoots" | "missingRoots"> & Partial<Pick<Dialect, "name" | "maxRoots">>,
  confine: Engine["confine"],
  policy?: ChosenPolicy,
  workspaces?: Engine["workspaces"],
): Engine {
  const grants = dialect.missingRoots === "skip" ? present(config) : config.grants;
  const named = grants.length > 0 ? grants : withoutAny(config, dialect);
  const roots = config["allow-outside-workspace"] ? [...named, everywhere(config)] : named;
  const engine = open({
    roots,
    confine,
    workspaces,
    state: config["state-dir"],
    rules: policy,
    anyDirectory: named.length === 0 ? accessOf(config) : undefined,
    decidingFiles: [policy?.file, config.tokens, config.audit, config["tls-key"]].filter(
      file => file !== undefined,
    ),
    own: ownDirectories(process.env),
    allowIrrevocable: config["allow-irrevocable"],
  });
  const { maxRoots = Number.POSITIVE_INFINITY } = dialect;
  if (engine.workspace.roots.length > maxRoots) {
    engine[Symbol.dispose]();
    throw new UsageError(
      `the dialect ${dialect.name} serves ${maxRoots === 1 ? "one directory" : `${maxRoots} directories`}: name their parent directory, or choose another dialect`,
    );
  }
  refuseServedPolicy(engine, policy);
  const whole = engine.workspace.roots.find(({ path }) => parse(path).root === path);
  if (whole === undefined || config["allow-filesystem-root"] || config["allow-outside-workspace"])
    return engine;
  engine[Symbol.dispose]();
  throw new UsageError(
    `${whole.path} is the whole filesystem: name directories in it, or add --allow-filesystem-root`,
  );
}

function open(options: EngineOptions): Engine {
  try {
    return openEngine(options);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (Fault.is(error, "not_found")) throw new UsageError(`no such directory: ${error.data.path}`);
    if (Fault.is(error, "not_a_directory")) throw new UsageError(`not a directory: ${error.data.path}`);
    throw new UsageError(`a directory cannot be served: ${say(plainWording, error)}`);
  }
}

/** A policy that the tools can change protects nothing. */
function refuseServedPolicy(engine: Engine, policy: ChosenPolicy | undefined): void {
  if (policy?.file === undefined) return;
  const file = canonicalPath(policy.file);
  const root = engine.workspace.roots.find(({ path }) => isWithin(file, path));
  if (root === undefined) return;
  engine[Symbol.dispose]();
  throw new UsageError(
    `the policy ${policy.file} is inside ${root.path}, which is served: move it elsewhere`,
  );
}

/** The directories that can be served, where any of them can. */
function present(config: Config): readonly Grant[] {
  const log = logOf(config);
  const found = config.grants.filter(grant => {
    try {
      new Root(grant.path, grant.access)[Symbol.dispose]();
      return true;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      log.warn(`left out: ${say(plainWording, error)}`);
      return false;
    }
  });
  return found.length > 0 ? found : config.grants;
}

function everywhere(config: Config): Grant {
  return { path: parse(process.cwd()).root, access: accessOf(config) };
}

function accessOf(config: Config): Access {
  return config["read-only"] ? "read-only" : "read-write";
}

function withoutAny(config: Config, dialect: Pick<Dialect, "withoutRoots">): readonly Grant[] {
  switch (dialect.withoutRoots) {
    case "working-directory":
      return [{ path: process.cwd(), access: accessOf(config) }];
    case "client-roots":
    case "callers-choice":
    case "none":
      return [];
    case "usage":
      throw new UsageError("name a directory to serve (polyfs [options] DIR...); see polyfs --help");
  }
}
