// Contents of the past as the policy shows them. A rule about `config/*.json` is meant below a directory that is
// served, so every directory that was served counts, besides the one that the user asks about.
import { dirname, parse } from "node:path";
import { Fault } from "../../engine/fault.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import type { PolicySource } from "../../engine/workspace/rules.ts";
import { Workspace } from "../../engine/workspace/workspace.ts";
import { createLog } from "../../mcp/log.ts";
import { servedRoots } from "../../review/served-roots.ts";
import type { Config } from "../config.ts";
import { choosePolicy } from "../policy/policy-choice.ts";
import type { ShownPast } from "./past.ts";

/** For commands that show contents in a terminal. */
export const revealOption = { help: "Show values that the policy masks, and files that it hides" } as const;

/** With `reveal`, everything is shown as it is. */
export function openPast(config: Config, at: string, { reveal }: { readonly reveal: boolean }): ShownPast {
  const rules = shownRules(reveal ? { ...config, policy: "none" } : config);
  const workspace = openShown(config, rules, [at, dirname(at)]);
  const shown = (path: string, bytes: Buffer) => {
    try {
      return workspace.shown(path, bytes);
    } catch (error) {
      if (Fault.is(error, "forbidden")) return undefined;
      throw error;
    }
  };
  return {
    isWhole: path => workspace.isShownWhole(path),
    shown,
    recorded(path, hash) {
      const bytes = workspace.archive.objects.get(hash);
      return bytes && shown(path, bytes);
    },
  };
}

/** The policy, for what a command shows and records. Throws a UsageError if it cannot be used. */
export function shownRules(config: Config): PolicySource {
  return choosePolicy(config.policy, true, process.env, createLog(config["log-level"]));
}

/** All that rules may be relative to, these directories among it, under the rules. */
export function openShown(config: Config, rules: PolicySource, paths: readonly string[]): Workspace {
  const state = config["state-dir"];
  const open = (some: readonly string[]) =>
    Workspace.open(
      some.map((path): Grant => ({ path, access: "read-only" })),
      { state, rules },
    );
  const here = process.cwd();
  const candidates = [parse(paths[0] ?? here).root, ...paths, here, ...servedRoots(state)];
  return open([...new Set(candidates)].filter(path => canOpen(() => open([path]))));
}

/** A directory may be gone, and what the user asks about may be a file. */
function canOpen(open: () => Workspace): boolean {
  try {
    open()[Symbol.dispose]();
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}
