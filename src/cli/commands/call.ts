// `polyfs call TOOL JSON`: one call from the shell, through the same `call()` as every transport. A terminal gets the
// text of the answer, a pipe the protocol's result.
import { call, offeredTools } from "../../contract/call.ts";
import type { Dialect, Outcome } from "../../contract/dialect.ts";
import { Session } from "../../contract/session.ts";
import type { Content } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import type { Log } from "../../mcp/log.ts";
import { wireResult } from "../../mcp/tools.ts";
import { openCommandAudit, refuseInWorkspaces } from "../audit.ts";
import type { Config } from "../config.ts";
import { confinementOf } from "../confinement.ts";
import { chooseDialect } from "../dialect.ts";
import { openDirectories } from "../directories.ts";
import { logOf } from "../log.ts";
import { missingTool } from "../missing-tool.ts";
import { unusedInDialect } from "../modes.ts";
import { policyOf } from "../policy/policy-choice.ts";
import { print } from "../print.ts";
import { refuseUnshared } from "../replica-directory.ts";
import { settingsOf } from "../settings.ts";
import { sharedThroughStore } from "../shared-directory.ts";
import { standardInput } from "../standard-input.ts";
import { styleOf, visible } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import type { ServedWorkspace } from "../workspaces.ts";
import { auditedCall } from "./audited-call.ts";
import { command, directoryOptions } from "./command.ts";
import { whereTheUserStands } from "./standing.ts";

const revision = "2025-11-25" as const;

export const callTool = command({
  name: "call",
  operands: "TOOL [JSON]",
  description:
    "Calls one tool with the parameters in JSON (- reads them from stdin), in the working directory unless directories are named. On a terminal the answer is printed as text; piped, as the JSON result of the protocol.",
  own: {
    json: { help: "Print the JSON result, even on a terminal" },
    text: { help: "Print the text, even when piped" },
  },
  options: [
    "dialect",
    ...directoryOptions,
    "allow-outside-workspace",
    "allow-run",
    "run",
    "run-network",
    "policy",
    "policy-is-advisory",
    "audit",
    "audit-max-bytes",
    "workspaces",
    "workspace-name",
    "store",
    "store-objects",
    "store-workspace",
  ],
  examples: [
    [`polyfs call --dialect fs read_file '{"path": "README.md"}'`, "what a model would see of README.md"],
    [
      `polyfs call --dialect agent-tools grep '{"pattern": "TODO"}' | jq -r '.content[].text'`,
      "the answer in a script",
    ],
    ["polyfs call --dialect polyfs apply_patch - < parameters.json", "parameters from a file"],
  ],
  most: 2,
  async run({ operands: [name, json = "{}"], own, config: given, line }) {
    if (name === undefined) throw new UsageError("name a tool; see polyfs call --help and polyfs tools");
    if (own.has("json") && own.has("text")) throw new UsageError("--json and --text exclude each other");
    const params = parse(json === "-" ? await standardInput() : json);
    const dialect = await chooseDialect(given.dialect);
    const { config, workspaces } = await servedBy(given, dialect, logOf(given));
    const policy = policyOf(config, dialect, logOf(config));
    const { confine } = await confinementOf(config);
    using engine = openDirectories(config, dialect, confine, policy, workspaces);
    refuseUnshared(config, engine.workspace);
    await using _ = await sharedThroughStore(config, engine.workspace, workspaces, logOf(config));
    using session = new Session();
    session.client = "polyfs call";
    const settings = settingsOf(config, dialect);
    const offered = offeredTools(dialect, { workspace: engine.workspace, settings });
    const log = logOf(config);
    for (const warning of unusedInDialect(given, dialect, offered, line)) log.warn(warning);
    const missing = missingTool(dialect, name, { workspace: engine.workspace, settings });
    if (missing !== undefined) {
      await print(process.stderr, `polyfs: ${printable(missing.reason)}\n`);
      return missing.exists ? 1 : 2;
    }
    const stop = new AbortController();
    process.once("SIGINT", () => stop.abort());
    if (workspaces !== undefined && config.audit !== undefined)
      await refuseInWorkspaces("--audit", config.audit, workspaces);
    using audit = openCommandAudit(config, engine.workspace, log);
    const { signal } = stop;
    const context = {
      engine,
      workspace: engine.workspace,
      settings,
      session,
      revision,
      signal,
      progress() {},
    };
    const bytesIn = Buffer.byteLength(json);
    const outcome = await (audit === undefined
      ? call(dialect, name, params, context)
      : auditedCall(audit, dialect, { name, params, bytesIn }, context));
    await engine.workspace.settled();
    const asText = own.has("text") || (process.stdout.isTTY && !own.has("json"));
    await (asText ? printText(outcome) : printJson(outcome));
    return "error" in outcome || outcome.isError ? 1 : 0;
  },
});

async function servedBy(
  config: Config,
  dialect: Dialect,
  log: Log,
): Promise<Partial<ServedWorkspace> & { config: Config }> {
  if (config.workspaces === undefined) return { config: whereTheUserStands(config) };
  return await (await import("../workspaces.ts")).serveWorkspace(config, dialect, log);
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new UsageError(`the parameters are not JSON (${reason}); quote them: '{"path": "a.txt"}'`);
  }
}

async function printJson(outcome: Outcome): Promise<void> {
  const result = "error" in outcome ? outcome : wireResult(outcome, revision);
  await print(process.stdout, `${JSON.stringify(result)}\n`);
}

async function printText(outcome: Outcome): Promise<void> {
  if ("error" in outcome) {
    const { code, message } = outcome.error;
    return print(process.stderr, `${styleOf(process.stderr).red(`error ${code}`)}: ${visible(message)}\n`);
  }
  const stream = outcome.isError ? process.stderr : process.stdout;
  const style = styleOf(stream);
  for (const item of outcome.content) {
    const text = textOf(item);
    const shown = stream.isTTY ? visible(text) : text;
    await print(stream, `${outcome.isError ? style.red(shown) : shown}${shown.endsWith("\n") ? "" : "\n"}`);
  }
}

function textOf(item: Content): string {
  if (item.type === "text") return item.text;
  if (item.type === "resource")
    return "text" in item.resource ? item.resource.text : `[${item.resource.uri}]`;
  return `[${item.type}, ${item.mimeType}, ${Buffer.byteLength(item.data, "base64")} bytes]`;
}
