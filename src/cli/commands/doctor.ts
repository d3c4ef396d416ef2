// `polyfs doctor`: what this machine offers, what that means, and what to install. Each check is a row; a row that
// keeps polyfs from working makes the exit code 1.
import { resolve } from "node:path";
import { plainWording, say, sayTemporaryHistory } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { ripgrepVersion } from "../../engine/search/ripgrep-version.ts";
import { findSandbox } from "../../engine/shell/sandbox.ts";
import {
  giveUpOwnPlace,
  isUsable,
  nearestExisting,
  statePath,
  temporaryState,
} from "../../engine/workspace/commit/state-path.ts";
import { refusalToWrite } from "../../engine/workspace/commit/try-to-write.ts";
import { errnoWords } from "../../engine/workspace/errno.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import { heldBy, isRaceFree } from "../../engine/workspace/handle.ts";
import { fileSystemOf, isVolatile } from "../../engine/workspace/system/file-system.ts";
import { readNamedFile } from "../../engine/workspace/system/named-file.ts";
import { Workspace } from "../../engine/workspace/workspace.ts";
import { createLog } from "../../mcp/log.ts";
import { version } from "../../version.ts";
import { lineWidth, wrap } from "../columns.ts";
import type { Config } from "../config.ts";
import { chooseDialect } from "../dialect.ts";
import { fromHome } from "../layer.ts";
import { promisesHere } from "../platform-promises.ts";
import { policyOf } from "../policy/policy-choice.ts";
import { print } from "../print.ts";
import { readableSecrets } from "../readable-secrets.ts";
import { type Style, styleOf, visible } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { volatileState } from "../volatile-state.ts";
import { command, directoryOptions } from "./command.ts";
import { whereTheUserStands } from "./standing.ts";

interface Finding {
  readonly what: string;
  /** Fine; worth knowing; or in the way of working at all. */
  readonly is: "fine" | "notable" | "broken";
  readonly found: string;
  readonly advice?: string;
}

export const doctor = command({
  name: "doctor",
  operands: "[DIR...]",
  description:
    "Checks what this machine offers: the Node version, ripgrep, the sandbox for commands and what it confines, the file systems of the directories (default: the working directory), secrets in them that the policy lets agents read, the limits on watching files, and the state directory. Exits with 1 if something keeps polyfs from working.",
  own: { json: { help: "Print the findings as JSON" } },
  options: ["dialect", "policy", "workspaces", "store", "store-durability", ...directoryOptions],
  examples: [["polyfs doctor ~/project", "is everything ready to serve this directory?"]],
  most: Number.POSITIVE_INFINITY,
  async run({ operands, own, config }) {
    const named = operands.map(word => ({ path: resolve(fromHome(word)), access: "read-write" }) as const);
    const grants = named.length > 0 ? named : whereTheUserStands(config).grants;
    const findings = [
      node(),
      promises(),
      handles(),
      await search(),
      ...(await sandbox()),
      ...grants.map(directory),
      ...(await secrets({ ...config, grants })),
      ...watching(),
      ...(config.workspaces === undefined ? [] : [await forks(config)]),
      ...(config.store === undefined ? [] : [await sharedStore(config)]),
      state(config["state-dir"]),
    ];
    const style = styleOf(process.stdout);
    if (own.has("json"))
      await print(process.stdout, `${JSON.stringify({ version, findings }, undefined, 2)}\n`);
    else await print(process.stdout, `polyfs ${version}\n${findings.map(one => row(one, style)).join("")}`);
    return findings.some(({ is }) => is === "broken") ? 1 : 0;
  },
});

/** Whether the shared store can be used, and when a change counts as done. */
async function sharedStore(config: Config): Promise<Finding> {
  const { openWorkspaceStore, shownAddress } = await import("../../engine/store/open-store.ts");
  const what = "Shared store";
  try {
    await using store = await openWorkspaceStore({ store: config.store ?? "" });
    const count = (await store.list()).length;
    const found = `${shownAddress(config.store ?? "")}, ${count} workspaces`;
    if (config["store-durability"] !== "local")
      return { what, is: "fine", found: `${found}; a change is answered when the store has it` };
    const { localDurabilityRisk: advice } = await import("../replica.ts");
    return { what, is: "notable", found: `${found}; a change is answered before the store has it`, advice };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { what, is: "broken", found: say(plainWording, error) };
  }
}

/** How forks get their files, found out by trying. */
async function forks(config: Config): Promise<Finding> {
  const { openWorkspaces } = await import("../workspaces.ts");
  await using workspaces = await openWorkspaces({ ...config, store: undefined });
  const { method, because } = await workspaces.method();
  const words = {
    overlay: "by overlay mounts: milliseconds, nothing is copied",
    reflink: "by reflinks: files share their blocks until one is written",
    link: "by hard links; every file is copied before a command may run in a fork",
    copy: "by copying every file",
  };
  return {
    what: "Forks",
    is: method === "overlay" || method === "reflink" ? "fine" : "notable",
    found: words[method],
    ...(because.length > 0 && { advice: because.join("; ") }),
  };
}

function row({ what, is, found, advice }: Finding, { green, yellow, red, dim }: Style): string {
  const mark = { fine: green("ok  "), notable: yellow("note"), broken: red("FAIL") }[is];
  const [first = "", ...more] = wrap(`${what}: ${visible(found)}`, lineWidth() - 6);
  const advised = advice === undefined ? [] : wrap(advice, lineWidth() - 10).map(line => dim(`  ${line}`));
  return `${mark}  ${[first, ...more, ...advised].join("\n      ")}\n`;
}

function node(): Finding {
  const found = `${process.versions.node} on ${process.platform} ${process.arch}`;
  return { what: "Node", is: "fine", found }; // an older one does not get here
}

/** The same table as in SECURITY.md, for this platform. */
function promises(): Finding {
  const { platform, shown, emulated, notPromised } = promisesHere();
  const parts = [
    ["promised and shown", shown],
    ["promised, tested by emulation only", emulated],
    ["not promised", notPromised],
  ] as const;
  const found = parts
    .filter(([, what]) => what.length > 0)
    .map(([how, what]) => `${how}: ${what.join(", ")}`);
  return {
    what: `On ${platform}`,
    is: notPromised.length === 0 ? "fine" : "notable",
    found: found.join("; "),
    ...(emulated.length > 0 && { advice: "polyfs selftest tries it on this machine." }),
  };
}

/** The way of holding a path decides which guarantees hold; SECURITY.md has the table. */
function handles(): Finding {
  const way = { descriptor: "descriptors in /proc", "working directory": "the working directory", path: "" }[
    heldBy()
  ];
  return isRaceFree()
    ? { what: "Containment", is: "fine", found: `by ${way}, also while others swap directories` }
    : {
        what: "Containment",
        is: "notable",
        found: "by paths that are verified after opening: this system offers nothing better",
        advice:
          "Not promised while another program swaps directories inside a root. SECURITY.md says what each platform promises.",
      };
}

async function search(): Promise<Finding> {
  const found = await ripgrepVersion();
  return found === undefined
    ? {
        what: "ripgrep",
        is: "broken",
        found: "cannot be started",
        advice:
          "Install polyfs again, without --omit=optional: its packages carry ripgrep for each platform.",
      }
    : { what: "ripgrep", is: "fine", found };
}

const processes = {
  "control group": "their number by a control group",
  "user limit": "their number by the user's limit",
  nothing: "but not their number",
} as const;

async function sandbox(): Promise<Finding[]> {
  const found = await findSandbox();
  if ("missing" in found) {
    const advice = `Commands can only run without one (--allow-run=unsandboxed). To get one: ${found.install}.`;
    return [{ what: "Sandbox for commands", is: "notable", found: found.missing, advice }];
  }
  const { kind, version: release, program, bindsHandles, forbidsNamespaces, holdsProcesses } = found;
  const confines = [
    "the disk to the directories that are served, network off unless --run-network",
    `processes${kind === "bubblewrap" ? " in a namespace of their own" : ""}, ${processes[holdsProcesses]}`,
    bindsHandles ? "directories passed as open handles" : "directories passed by path",
    forbidsNamespaces ? "no further namespaces" : "further namespaces possible",
  ];
  return [
    { what: "Sandbox for commands", is: "fine", found: `${kind} ${release} (${program})` },
    {
      what: "It confines",
      is: holdsProcesses === "nothing" || (kind === "bubblewrap" && !bindsHandles) ? "notable" : "fine",
      found: confines.join("; "),
    },
  ];
}

function directory({ path, access }: Grant): Finding {
  try {
    using workspace = Workspace.open([{ path, access: "read-only" }], { onlyLooks: true });
    const [root] = workspace.roots;
    const { kind, remote, freeBytes } = fileSystemOf(root?.path ?? path);
    const refusal = access === "read-write" ? refusalToWrite(root?.path ?? path) : undefined;
    if (refusal !== undefined)
      return {
        what: `Directory ${path}`,
        is: "notable",
        found: `${kind}, can be read but not written: ${errnoWords(refusal)}`,
        advice:
          writeAdvice[refusal] ?? "Every change will be refused. To serve it for reading only: --read-only.",
      };
    return {
      what: `Directory ${path}`,
      is: remote ? "notable" : "fine",
      found: `${kind}, ${access}, ${(freeBytes / 1e9).toFixed(1)} GB free`,
      ...(remote && {
        advice: "Served by another program or machine: if that crashes, acknowledged writes may be lost.",
      }),
    };
  } catch (error) {
    return { what: `Directory ${path}`, is: "broken", found: reasonOf(error) };
  }
}

const writeAdvice: Readonly<Record<string, string>> = {
  EACCES:
    "Every change will be refused. Give this user write permission, or serve it for reading only: --read-only.",
  EROFS: "Every change will be refused. Mount it read-write, or serve it for reading only: --read-only.",
  ENOSPC: "Changes are refused until there is room. Deleting works.",
};

/** Files that look like secrets and that an agent could read. */
async function secrets(config: Config): Promise<Finding[]> {
  const what = "Readable secrets";
  try {
    const dialect = await chooseDialect(config.dialect);
    const log = createLog(config["log-level"]);
    const policy = policyOf({ ...config, "policy-is-advisory": true }, dialect, log);
    using workspace = Workspace.open(config.grants, { rules: policy, onlyLooks: true });
    const { paths, isComplete } = readableSecrets(workspace);
    const rest = isComplete ? "" : " (not all files were checked)";
    if (paths.length === 0)
      return [{ what, is: "fine", found: `none under the policy ${policy.name}${rest}` }];
    const named = paths.slice(0, 5).join(", ") + (paths.length > 5 ? ` and ${paths.length - 5} more` : "");
    const advice =
      "The built-in rules hide them: --policy default, or deny or mask them in a policy of your own.";
    return [{ what, is: "notable", found: `${named}${rest}`, advice }];
  } catch (error) {
    if (error instanceof UsageError) return [{ what, is: "broken", found: error.message }];
    if (error instanceof Fault) return []; // said of the directory itself
    throw error;
  }
}

/** Linux limits the number of watched files; editors and build tools share the limit. */
function watching(): Finding[] {
  if (process.platform !== "linux") return [];
  try {
    const [watches, instances] = ["max_user_watches", "max_user_instances"].map(name =>
      Number(readNamedFile(`/proc/sys/fs/inotify/${name}`)),
    );
    const few = (watches ?? 0) < 65_536;
    return [
      {
        what: "Watching files",
        is: few ? "notable" : "fine",
        found: `${watches} watches and ${instances} watchers at once`,
        ...(few && { advice: "More: sysctl fs.inotify.max_user_watches=524288" }),
      },
    ];
  } catch {
    return [];
  }
}

function state(wanted: string | undefined): Finding {
  const what = "State and history";
  const advice = "Choose another directory: --state-dir DIR";
  const path = statePath(wanted);
  const refusal = isUsable(path) ? refusalToWrite(nearestExisting(path)) : "EACCES";
  // A server would do the same.
  if (refusal !== undefined) giveUpOwnPlace(wanted);
  const temporary = temporaryState(wanted);
  if (temporary !== undefined)
    return { what, is: "notable", found: sayTemporaryHistory(temporary).replace(/^Note: /, ""), advice };
  if (refusal !== undefined)
    return {
      what,
      is: "broken",
      found: `${path} cannot be written: ${errnoWords(refusal)}. Changes are refused, because history could not be kept.`,
      advice,
    };
  if (isVolatile(path)) return volatileFinding(path);
  try {
    const { kind, freeBytes } = fileSystemOf(path);
    return { what, is: "fine", found: `${path} (${kind}, ${(freeBytes / 1e9).toFixed(1)} GB free)` };
  } catch (error) {
    if (Fault.is(error, "not_found"))
      return { what, is: "fine", found: `${path} (created by the first change)` };
    return { what, is: "broken", found: reasonOf(error), advice };
  }
}

function volatileFinding(path: string): Finding {
  return {
    what: "State and history",
    is: "notable",
    found: `${path} is ${volatileState}`,
    advice: "Choose another directory: --state-dir DIR",
  };
}

function reasonOf(error: unknown): string {
  if (error instanceof Fault) return say(plainWording, error);
  throw error;
}
