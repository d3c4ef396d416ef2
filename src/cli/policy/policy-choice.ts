// Which policy applies: the one of --policy, else policy.json in the configuration directory, else the dialect's
// default. A file is reread when it changes; if it is broken or gone by then, the old rules stay in force.
import { join, resolve } from "node:path";
import type { Dialect } from "../../contract/dialect.ts";
import { clock } from "../../engine/clock.ts";
import { Fault } from "../../engine/fault.ts";
import { defaultRules } from "../../engine/policy/default-rules.ts";
import { type Overridden, overriddenRules } from "../../engine/policy/overridden.ts";
import { Policy } from "../../engine/policy/policy.ts";
import type { PolicyRule } from "../../engine/policy/rule.ts";
import { faultOf, isAnswer } from "../../engine/workspace/errno.ts";
import type { PolicySource } from "../../engine/workspace/rules.ts";
import { configurationDirectory } from "../../engine/workspace/system/user-places.ts";
import { WatchedFile } from "../../host/watched-file.ts";
import { fileProblem } from "../../mcp/file-problem.ts";
import type { Log } from "../../mcp/log.ts";
import type { Config } from "../config.ts";
import { UsageError } from "../usage-error.ts";
import { watchGrants } from "./grants-file.ts";
import { parsePolicy } from "./policy-file.ts";

export interface ChosenPolicy extends PolicySource {
  /** For people: `default`, `none`, or the file. */
  readonly name: string;
  /** The file, if there is one. */
  readonly file?: string;
  /** Reads the file now, and says in the log if it cannot be used. */
  readonly reread?: () => void;
}

/** How long a decision may rest on rules that were just replaced. */
const recheckMs = 100;

const fixed = (name: string, policies: readonly Policy[]): ChosenPolicy => ({
  name,
  current: () => policies,
});

/** `option` is what --policy says. Throws a UsageError where a file is named that cannot be used. */
export function choosePolicy(
  option: string | undefined,
  hasDefault: boolean,
  environment: NodeJS.ProcessEnv,
  log: Log,
): ChosenPolicy {
  if (option === "none") return fixed("none", []);
  if (option === "default") return fixed("default", [new Policy(defaultRules)]);
  const own = option === undefined ? configuredPolicy(environment) : resolve(option);
  const watched = own === undefined ? undefined : new WatchedFile(own);
  const first = watched && read(watched, option !== undefined, log);
  if (own !== undefined && watched !== undefined && first !== undefined)
    return { ...fromFile(own, watched, first, log), ...grantsIn(environment, log) };
  return hasDefault ? fixed("default", [new Policy(defaultRules)]) : fixed("none", []);
}

/** The policy of a start, for a dialect. Rules that commands are not bound by have to be accepted explicitly. */
export function policyOf(config: Config, dialect: Pick<Dialect, "defaultPolicy">, log: Log): ChosenPolicy {
  const policy = choosePolicy(config.policy, dialect.defaultPolicy ?? false, process.env, log);
  const isLoose = config.run && config["allow-run"] === "unsandboxed" && policy.current().length > 0;
  if (!isLoose || config["policy-is-advisory"]) return policy;
  const loose = "commands run without a sandbox, so the policy does not restrict them";
  if (policy.name === "default" && config.policy === undefined)
    log.warn(`${loose}: it applies to the other tools`);
  else
    throw new UsageError(
      `${loose}: add --policy-is-advisory to accept that, or use --allow-run with a sandbox`,
    );
  return policy;
}

function grantsIn(environment: NodeJS.ProcessEnv, log: Log): Pick<PolicySource, "grants"> {
  const directory = configurationDirectory(environment);
  return directory === undefined ? {} : { grants: watchGrants(join(directory, "grants.json"), log) };
}

/** Where a policy is looked for when no option names one. */
function configuredPolicy(environment: NodeJS.ProcessEnv): string | undefined {
  const directory = configurationDirectory(environment);
  return directory === undefined ? undefined : join(directory, "policy.json");
}

function read(file: WatchedFile, required: boolean, log: Log): readonly Policy[] | undefined {
  let text: string | undefined;
  try {
    text = file.changed()?.text;
  } catch (error) {
    // A home that this user may not enter is not theirs, so what is in it is not their policy.
    if (!required && !(error instanceof Fault) && isAnswer(error)) return undefined;
    throw new UsageError(`the policy cannot be read: ${fileProblem(faultOf(error, file.path))}`);
  }
  if (text === undefined) {
    if (required) throw new UsageError(`the policy ${file.path} does not exist`);
    return undefined;
  }
  const parsed = parsePolicy(text);
  if ("wrong" in parsed)
    throw new UsageError(`the policy ${file.path} is invalid: ${parsed.wrong.join("; ")}`);
  warnOfOverridden(parsed.document.rules, file.path, log);
  return [new Policy(parsed.document.rules)];
}

function warnOfOverridden(rules: readonly PolicyRule[], path: string, log: Log): void {
  for (const one of overriddenRules(rules)) log.warn(`the policy ${path}: ${sayOverridden(one)}`);
}

/** For people. */
export function sayOverridden({ rule, by }: Overridden): string {
  return `${rule} never decides, because ${by} matches every path and wins`;
}

function fromFile(path: string, watched: WatchedFile, first: readonly Policy[], log: Log): ChosenPolicy {
  let policies = first;
  let checked = clock();
  return {
    name: path,
    file: path,
    reread() {
      checked = Number.NEGATIVE_INFINITY;
      this.current();
    },
    current() {
      const now = clock();
      if (now - checked < recheckMs) return policies;
      checked = now;
      try {
        const change = watched.changed();
        if (change === undefined) return policies;
        const parsed =
          change.text === undefined ? { wrong: ["it does not exist"] } : parsePolicy(change.text);
        if ("wrong" in parsed)
          log.error(
            `the policy ${path} is not used, the old rules stay in force: ${parsed.wrong.join("; ")}`,
          );
        else {
          policies = [new Policy(parsed.document.rules)];
          log.warn(`the policy ${path} was read again`);
          warnOfOverridden(parsed.document.rules, path, log);
        }
      } catch (error) {
        log.error(`the policy ${path} cannot be read, the old rules stay in force`, fileProblem(error));
      }
      return policies;
    },
  };
}
