// Which options have an effect only together with others, and in which dialects, as two tables. Those without effect are
// refused: the user believes that they apply. Those that only the dialect does not use are named in a warning: a line of
// options may serve for several dialects. One that only restricts, such as --no-run, applies in every dialect.
import type { Dialect } from "../contract/dialect.ts";
import type { Tool } from "../contract/tool.ts";
import type { Config } from "./config.ts";
import type { OptionLayer } from "./layer.ts";
import { type OptionName, optionNames, options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

interface OptionNeed {
  isMet(config: Config): boolean;
  /** What is missing or in the way: `without --http`. */
  readonly unmet: string;
  /** What to do about it. */
  readonly advice?: string;
  /** The option that is in the way. It may be there to override what a weaker source sets: that is no mistake. */
  readonly against?: OptionName;
}

function option(name: OptionName & keyof Config, advice?: string): OptionNeed {
  return {
    isMet: config => config[name] !== undefined,
    unmet: `without --${name}`,
    ...(advice && { advice }),
  };
}

const http = option("http", "leave it out, or add --http PORT");
const store = option("store");
const workspaces = option("workspaces");
const issuer = option("oauth-issuer");
const run: OptionNeed = { isMet: config => config.run, unmet: "with --no-run", against: "run" };
const commands: OptionNeed = {
  isMet: config => config["allow-run"] !== undefined || (config.http === undefined && !config["read-only"]),
  unmet: "without --allow-run",
};
const sandbox: OptionNeed = {
  isMet: config => config["allow-run"] === "sandboxed",
  unmet: "without --allow-run",
};
const noSandbox: OptionNeed = {
  isMet: config => config["allow-run"] === "unsandboxed",
  unmet: "without --allow-run=unsandboxed",
};
const rules: OptionNeed = {
  isMet: config => config.policy !== "none",
  unmet: "with --policy none",
  against: "policy",
};
const writes: OptionNeed = {
  isMet: config => !config["read-only"],
  unmet: "with --read-only",
  against: "read-only",
};
const sessions: OptionNeed = {
  isMet: config => !config.stateless,
  unmet: "with --stateless",
  against: "stateless",
};
const directory: OptionNeed = {
  isMet: config => config.workspaces === undefined,
  unmet: "with --workspaces",
  against: "workspaces",
};

/** What each option needs. Nothing: it has an effect in every mode, or depends on more than options. */
export const needs: Readonly<Record<OptionName, readonly OptionNeed[]>> = {
  directories: [],
  workspace: [],
  "allow-write": [],
  "allow-read": [],
  "sandbox-profile": [],
  "allow-cwd": [],
  "read-only": [],
  "allow-outside-workspace": [],
  "allow-filesystem-root": [],
  dialect: [],
  "plain-names": [],
  structured: [],
  run: [],
  "allow-run": [run],
  "run-network": [run, sandbox],
  "hard-links": [writes],
  "allow-irrevocable": [writes],
  policy: [],
  "policy-is-advisory": [run, noSandbox, rules],
  "state-dir": [],
  "max-output-bytes": [],
  "max-file-bytes": [],
  "command-timeout-ms": [run, commands],
  "command-timeout-max-ms": [run, commands],
  workspaces: [],
  "workspace-name": [workspaces],
  "workspace-max-bytes": [workspaces],
  "workspace-max-files": [workspaces],
  "workspace-max-age": [workspaces],
  "workspace-keep-dropped": [workspaces],
  store: [],
  "store-objects": [store],
  "store-workspace": [store, directory],
  "store-durability": [store],
  "store-max-bytes": [store],
  "store-trust-ms": [store],
  http: [],
  stateless: [http],
  "tls-cert": [http, option("tls-key")],
  "tls-key": [http, option("tls-cert")],
  "metrics-listen": [http],
  tokens: [http],
  "oauth-issuer": [http],
  "oauth-audience": [http, issuer],
  "oauth-roots-claim": [http, issuer],
  "oauth-workspace-claim": [http, issuer],
  "allow-host": [http],
  "allow-origin": [http],
  audit: [],
  "audit-max-bytes": [option("audit")],
  "max-body-bytes": [http],
  "max-sessions": [http, sessions],
  "max-concurrent-calls": [http],
  "max-requests-per-minute": [http],
  "log-level": [],
  "log-format": [],
  config: [],
  "mcp-server": [],
  help: [],
  version: [],
};

interface DialectNeed {
  isMet(dialect: Dialect, offered: readonly Tool[]): boolean;
  /** What the dialect lacks: `has no commands`. */
  readonly unmet: string;
  /** What to do where other options would offer it. */
  readonly advice?: string;
  /** The options that may be in the way, besides the dialect. */
  readonly against?: readonly OptionName[];
}

/** Not those that are offered: --read-only withdraws commands without a sandbox, whatever else is set. */
const hasCommands: DialectNeed = {
  isMet: ({ tools }) => tools.some(({ effect }) => effect === "runs"),
  unmet: "runs no commands",
};
const offersCommands: DialectNeed = {
  isMet: (_, offered) => offered.some(({ effect }) => effect === "runs"),
  unmet: "runs no commands",
  advice: "runs no commands with these options: see --allow-run and --read-only",
  against: ["run", "read-only"],
};
const offersChanges: DialectNeed = {
  isMet: (_, offered) => offered.some(({ effect }) => effect === "writes"),
  unmet: "changes no files",
  advice: "changes no files with these options: see --read-only",
  against: ["read-only"],
};
/** Where contracts have limits of their own, those hold. */
const reads = (...names: readonly string[]): DialectNeed => ({
  isMet: ({ name }) => names.includes(name),
  unmet: "has limits of its own",
});
const readsTimeouts = reads("agent-tools", "polyfs");

/** What each option needs of the dialect. Over HTTP, all dialects are served. */
const dialectNeeds: Readonly<Partial<Record<OptionName, readonly DialectNeed[]>>> = {
  "plain-names": [{ isMet: ({ prefix }) => prefix !== undefined, unmet: "has names without a prefix" }],
  structured: [
    { isMet: ({ tools }) => tools.some(({ output }) => output), unmet: "has no structured content" },
  ],
  "allow-run": [hasCommands],
  "run-network": [hasCommands],
  "policy-is-advisory": [hasCommands],
  "command-timeout-ms": [offersCommands, readsTimeouts],
  "command-timeout-max-ms": [offersCommands, readsTimeouts],
  "hard-links": [offersChanges],
  "allow-irrevocable": [offersChanges],
  "max-output-bytes": [reads("agent-tools", "polyfs")],
  "max-file-bytes": [reads("agent-tools", "file-editor", "polyfs", "reference")],
};

/** A command checks the options of its own line alone: the variables may be there for servers. */
export function refuseWithoutEffect(
  config: Config,
  line?: OptionLayer,
  apart: readonly OptionName[] = [],
): void {
  for (const [name, source] of givenOptions(config, line)) {
    if (apart.includes(name)) continue;
    for (const { isMet, unmet, advice, against } of needs[name]) {
      if (isMet(config) || (against !== undefined && isOverridden(config, source, against))) continue;
      throw new UsageError(`--${name} has no effect ${unmet}${advice === undefined ? "" : `: ${advice}`}`);
    }
  }
}

/**
 * A warning for each option that the dialect does not use. `offered`: the tools that the dialect has with these options;
 * all of its tools, where that is not known yet.
 */
export function* unusedInDialect(
  config: Config,
  dialect: Dialect,
  offered: readonly Tool[] = dialect.tools,
  line?: OptionLayer,
): Generator<string> {
  for (const [name, source] of givenOptions(config, line))
    for (const { isMet, unmet, advice = unmet, against = [] } of dialectNeeds[name] ?? []) {
      const inTheWay: readonly OptionName[] = ["dialect", ...against];
      if (isMet(dialect, offered) || inTheWay.some(other => isOverridden(config, source, other))) continue;
      const lacks = isMet(dialect, dialect.tools) ? advice : unmet;
      yield `--${name} has no effect in the dialect ${dialect.name}, which ${lacks}`;
      break;
    }
}

/** Whether a stronger source than `source` sets the option that is in the way. */
function isOverridden(config: Config, source: number, against: OptionName): boolean {
  return source > (config.given.get(against) ?? source);
}

/** The options that are set to something, with the source that sets them. */
function givenOptions(config: Config, line?: OptionLayer): (readonly [OptionName, number])[] {
  const named = optionNames.filter(name => line === undefined || Object.hasOwn(line.values, name));
  return named.flatMap(name => {
    const source = config.given.get(name);
    return source === undefined || isOff(name, config) ? [] : [[name, source] as const];
  });
}

/** A flag that is set to what it would be anyway. */
function isOff(name: OptionName, config: Config): boolean {
  const { kind } = options[name];
  return kind === "flag" && config[name as keyof Config] === options[name].default;
}
