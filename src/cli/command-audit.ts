// The audit log of a command that changes files: one line with what it was told to do and what it changed, as each call
// of a server has. It is written before the command prints its result.

import { clock } from "../engine/clock.ts";
import { Fault } from "../engine/fault.ts";
import { isWithin } from "../engine/workspace/root.ts";
import type { PolicySource } from "../engine/workspace/rules.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { AuditLog } from "../host/audit-log.ts";
import { auditedChanges } from "../mcp/audited-change.ts";
import { decisionOf } from "../mcp/recorded-call.ts";
import { openCommandAudit } from "./audit.ts";
import { openShown, shownRules } from "./commands/shown-past.ts";
import type { Config } from "./config.ts";
import { logOf } from "./log.ts";
import { userName } from "./user-name.ts";

interface CommandAction {
  /** `undo`, `workspace merge`. */
  readonly command: string;
  readonly paths?: readonly string[];
  /** What else it was told, by option. */
  readonly about?: Readonly<Record<string, string | boolean | undefined>>;
}

export class CommandAudit implements Disposable {
  readonly #config: Config;
  readonly #workspace: Workspace;
  readonly #records: { readonly log: AuditLog; readonly rules: PolicySource } | undefined;

  /**
   * Without `--audit`, nothing is recorded. Throws a UsageError if the log cannot be written, or the policy cannot be
   * read: after the change it would be too late.
   */
  constructor(config: Config, workspace: Workspace) {
    this.#config = config;
    this.#workspace = workspace;
    const rules = config.audit === undefined ? undefined : shownRules(config);
    const log = openCommandAudit(config, workspace, logOf(config));
    this.#records = log && rules && { log, rules };
  }

  /** Runs the command's work and records it. Rules are relative to the workspace's roots, and to these. */
  async record<T>(action: CommandAction, run: () => Promise<T>, roots: readonly string[] = []): Promise<T> {
    if (this.#records === undefined) return await run();
    const { log, rules } = this.#records;
    const changes: string[] = [];
    const note = (id: string) => void changes.push(id);
    const stop = [this.#workspace.onCommit(({ id }) => note(id)), this.#workspace.onRecord(note)];
    const started = clock();
    let failure: { readonly error: unknown } | undefined;
    try {
      return await run();
    } catch (error) {
      failure = { error };
      throw error;
    } finally {
      for (const end of stop) end();
      log.append(this.#entry(action, clock() - started, changes, failure, rules, roots));
    }
  }

  #entry(
    { command, paths = [], about = {} }: CommandAction,
    ms: number,
    changes: readonly string[],
    failure: { readonly error: unknown } | undefined,
    rules: PolicySource,
    roots: readonly string[],
  ): Record<string, unknown> {
    const fault = failure?.error instanceof Fault ? failure.error.code : undefined;
    const own = this.#workspace.roots.map(({ path }) => path);
    // The command itself is bound by no rule, but the log keeps no hash of what one hides.
    const { archive } = this.#workspace;
    const changed = changes.flatMap(id => archive.changes.get(id)?.files ?? []);
    const holding = roots.filter(path =>
      changed.some(({ at, from = at }) => isWithin(at, path) || isWithin(from, path)),
    );
    using shown = openShown(this.#config, rules, [...own, ...holding]);
    const source = {
      archive,
      hasRules: shown.hasRules,
      isShownWholeAnywhere: (at: string) => shown.isShownWholeAnywhere(at),
    };
    return {
      event: "call",
      caller: userName(),
      client: `polyfs ${command.split(" ")[0]}`,
      tool: command,
      workspace: own,
      paths,
      about,
      decision: decisionOf(fault),
      outcome: failure === undefined ? "ok" : "error",
      fault,
      ms: Math.round(ms * 10) / 10,
      changes: auditedChanges(source, changes),
    };
  }

  [Symbol.dispose](): void {
    this.#records?.log[Symbol.dispose]();
  }
}
