// Which options have an effect only together with others, as one table. Those without effect are refused: the user
// believes that they apply.
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

/** A command checks the options of its own line alone: the variables may be there for servers. */
export function refuseWithoutEffect(config: Config, line?: OptionLayer): void {
  for (const name of optionNames) {
    if (line !== undefined && !Object.hasOwn(line.values, name)) continue;
    const source = config.given.get(name);
    if (source === undefined || isOff(name, config)) continue;
    for (const { isMet, unmet, advice, against } of needs[name]) {
      const isOverridden = against !== undefined && source > (config.given.get(against) ?? source);
      if (isMet(config) || isOverridden) continue;
      throw new UsageError(`--${name} has no effect ${unmet}${advice === undefined ? "" : `: ${advice}`}`);
    }
  }
}

/** A flag that is set to what it would be anyway. */
function isOff(name: OptionName, config: Config): boolean {
  const { kind } = options[name];
  return kind === "flag" && config[name as keyof Config] === options[name].default;
}
