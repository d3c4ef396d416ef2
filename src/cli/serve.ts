// Serving: opens the directories and hands them, with the dialect, to the protocol.
import { offeredTools } from "../contract/call.ts";
import { closeInherited } from "../engine/workspace/system/inherited.ts";
import { serveStdio } from "../mcp/stdio.ts";
import { Activity } from "../review/activity.ts";
import { version } from "../version.ts";
import { openAudit, refuseInWorkspaces } from "./audit.ts";
import { withClientRoots } from "./client-roots.ts";
import type { Config } from "./config.ts";
import { confinementOf } from "./confinement.ts";
import { chooseDialect } from "./dialect.ts";
import { openDirectories } from "./directories.ts";
import { logOf, tellStart } from "./log.ts";
import { refuseWithoutEffect, unusedInDialect } from "./modes.ts";
import { policyOf } from "./policy/policy-choice.ts";
import { ruleWriter } from "./policy/write-rule.ts";
import { refuseUnshared } from "./replica-directory.ts";
import { servedBy } from "./served-directories.ts";
import { settingsOf } from "./settings.ts";
import { sharedThroughStore } from "./shared-directory.ts";
import { openTelemetry } from "./telemetry.ts";
import { explainWaiting } from "./terminal-notice.ts";
import { warnOfVolatileState } from "./volatile-state.ts";
import { warmUpWhenQuiet } from "./warm-up.ts";

export async function serve(given: Config): Promise<void> {
  // Before anything is opened: inherited descriptors would be passed on to every command.
  if (process.channel === undefined) closeInherited();
  const log = logOf(given);
  refuseWithoutEffect(given);
  if (given.http !== undefined) return await (await import("./http.ts")).serveOverHttp(given, log);
  const dialect = await chooseDialect(given.dialect);
  const { config, workspaces } = await servedBy(given, dialect, log);
  const asks =
    config.grants.length === 0 ? dialect.withoutRoots === "client-roots" : dialect.narrowedByClient === true;
  const policy = policyOf(config, dialect, log);
  const { confine, sandbox } = await confinementOf(config);
  const { engine: served, take } = withClientRoots(
    openDirectories(config, dialect, confine, policy, workspaces),
    config,
    log,
  );
  using engine = served;
  const settings = settingsOf(config, dialect);
  const { commands } = settings;
  const offered = offeredTools(dialect, { workspace: engine.workspace, settings });
  for (const warning of unusedInDialect(config, dialect, offered)) log.warn(warning);
  for (const { path, access } of engine.workspace.roots) log.info(`serving ${path} (${access})`);
  refuseUnshared(config, engine.workspace);
  await using _shared = await sharedThroughStore(config, engine.workspace, workspaces, log);
  await warnOfVolatileState(config, engine.workspace, log);
  if (workspaces !== undefined && config.audit !== undefined)
    await refuseInWorkspaces("--audit", config.audit, workspaces);
  using audit = openAudit(config, engine.workspace, log);
  const telemetry = await openTelemetry(log, config);
  const { workspace } = engine;
  using activity = new Activity({
    workspace,
    state: config["state-dir"],
    transport: "stdio",
    dialect: dialect.name,
    roots: () => engine.workspace.roots.map(({ path }) => path),
    writeRule: ruleWriter(policy),
  });
  const started = { at: "stdio", dialect, commands, workspace, policy: policy.name, sandbox };
  tellStart(log, config, { ...started, telemetry: telemetry?.to });
  if (process.stdin.isTTY) await explainWaiting(engine.workspace, dialect.name);
  // The first call that names a path waits for the rules otherwise.
  const compileRules = () => workspace.roots.map(({ rules }) => rules.hidden);
  warmUpWhenQuiet(process.stdin, process.stdout, compileRules);
  await serveStdio({
    dialect,
    engine,
    settings,
    info: { name: "polyfs", version },
    activity,
    log,
    audit: audit && ((entry, mayWait) => audit.append(entry, mayWait)),
    flushAudit: audit && (() => audit.flush()),
    tracing: telemetry?.tracing,
    onReload:
      audit &&
      (() => {
        audit.reopen();
        policy.reread?.();
      }),
    onRoots: asks ? take : undefined,
  });
  // What commits have yet to clear away would be left until the next start.
  await engine.workspace.settled();
  await telemetry?.end();
}
