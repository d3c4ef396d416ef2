// `workspace`: forks of the tree that is served, compared with it, merged back and dropped. A caller reaches the
// workspace that it is in and the forks that descend from it, and no others.
import type { CallContext } from "../../contract/context.ts";
import { type Reply, text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { WorkspaceRecord } from "../../engine/workspaces/record.ts";
import type { ListedWorkspace, Workspaces } from "../../engine/workspaces/workspaces.ts";
import { AnswerLines, answerBytes, counted, number } from "./answer.ts";
import { refused } from "./failure.ts";
import { polyfsTool } from "./polyfs-tool.ts";

const letters = { added: "A", changed: "M", deleted: "D" } as const;

export const workspace = polyfsTool({
  name: "workspace",
  title: "Workspaces",
  description: "Fork this tree, diff a fork against its base, merge it back, drop it.",
  input: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["list", "fork", "diff", "merge", "drop"] },
      name: { type: "string", description: "The fork." },
      from: { type: "string", description: "Base of a new fork (this workspace)." },
    },
    required: ["action"],
  },
  effect: "writes",
  about: ["action", "name", "from"],
  async run({ action, name, from }, call) {
    const { workspaces } = call.engine;
    if (workspaces === undefined) throw new Fault("denied", { what: "no workspaces are served" });
    const current = await workspaces.servedFrom(call.workspace.roots[0]?.path ?? "");
    if (current === undefined) throw new Fault("denied", { what: "this directory is not a workspace" });
    if (action === "list") return text(await listed(workspaces, current, call.settings));
    if (action === "fork") {
      if (name === undefined) throw refused("name is missing", "Give the new fork a name.");
      const base = from === undefined ? current : await reached(workspaces, from, current, call);
      await refuseReserved(workspaces, name, current);
      const fork = await workspaces.fork(name, base.name, call.session.client, call.signal);
      return text(forked(fork, base, current));
    }
    if (from !== undefined) throw refused(`from cannot be used with ${action}`, "Leave it out.");
    if (action === "drop" && name === undefined)
      throw refused("name is missing", `Name the workspace to drop; you are in ${current.name}.`);
    const target = name === undefined ? current : await reached(workspaces, name, current, call);
    if (action === "diff") return await difference(workspaces, target, call);
    if (action === "merge") {
      const { change, files, unkept, unnoted } = await workspaces.merge(target, call.workspace, {
        signal: call.signal,
      });
      if (change === undefined) return text(`${target.name} has nothing that its base lacks`);
      const lines = new AnswerLines(answerBytes(call.settings) - 200);
      lines.note(`merged ${target.name}: ${counted(files.length, "file")}, change ${change} of its base`);
      addFiles(
        lines,
        files,
        ({ path, effect, merged }) =>
          `${letters[effect]} ${printable(path)}${merged ? " (merged with the base's changes)" : ""}`,
      );
      if (unkept) lines.note(unkeptMerge);
      if (unnoted) lines.note(unnotedMerge);
      return text(lines.toString());
    }
    refuseKept(target, call.settings.boundWorkspace);
    await workspaces.drop(target);
    return text(
      `dropped ${target.name}\nUntil it is collected, the user can restore it: polyfs workspace restore ${target.name}`,
    );
  },
});

const unkeptMerge =
  "[a file is not kept in the history (too large, unreadable, no room, or its disk failed): undo of the whole merge is refused; undo with path works for the others]";
const unnotedMerge =
  "[merged, but the store could not note it: the next merge of this fork compares both sides from before this one]";

/** A workspace that the caller may act on: the current one, or one that was forked from it, directly or not. */
async function reached(
  workspaces: Workspaces,
  name: string,
  current: WorkspaceRecord,
  { settings }: CallContext,
): Promise<WorkspaceRecord> {
  const record = await workspaces.find(name).catch(error => {
    // Which other workspaces there are is not for this caller to know.
    if (!settings.ownWorkspaceOnly || !Fault.is(error, "unknown_workspace")) throw error;
  });
  if (record !== undefined && (await workspaces.descends(record, current))) return record;
  throw new Fault("denied", { what: `${name} is not ${current.name} and was not forked from it` });
}

/**
 * A dropped workspace keeps its name as long as it can be restored, against callers who could not reach it: others know
 * it by that name. A person can take the name on the command line.
 */
async function refuseReserved(workspaces: Workspaces, name: string, current: WorkspaceRecord): Promise<void> {
  for (const one of await workspaces.list({ dropped: true }))
    if (one.name === name && !(await workspaces.descends(one, current)))
      throw new Fault("workspace_exists", { name });
}

/** A tool drops forks, which begin as something that stays, and not the workspace that a token lets its caller into. */
function refuseKept({ id, name, kind }: WorkspaceRecord, bound: string | undefined): void {
  if (kind === "fork" && id !== bound) return;
  const what = kind === "fork" ? "this token is for it" : "it is not a fork";
  throw new Fault("denied", {
    what: `${name} stays: ${what}; the user can drop it with polyfs workspace drop`,
  });
}

async function listed(
  workspaces: Workspaces,
  current: WorkspaceRecord,
  settings: CallContext["settings"],
): Promise<string> {
  const all = await workspaces.described();
  const family = new Map(all.map(({ record }) => [record.id, record]));
  const shown: ListedWorkspace[] = [];
  for (const one of all) {
    if (!settings.ownWorkspaceOnly || one.record.id === current.base) shown.push(one);
    else if (await workspaces.descends(one.record, current, family)) shown.push(one);
  }
  const lines = new AnswerLines(answerBytes(settings) - 200);
  if (shown.every(one => lines.add(listedLine(one, current)))) return lines.toString();
  // Too many for one answer: those that were used last.
  const latest = new AnswerLines(answerBytes(settings) - 200);
  shown.sort((a, b) => b.used - a.used);
  const count = shown.findIndex(one => !latest.add(listedLine(one, current)));
  latest.note(
    `[the ${number(count)} that were used last, of ${number(shown.length)}; the user sees all with polyfs workspace list]`,
  );
  return latest.toString();
}

function listedLine({ record, baseName, size, expires }: ListedWorkspace, current: WorkspaceRecord): string {
  const parts = [
    baseName === undefined ? record.kind : `fork of ${baseName}`,
    `${age(record.created)} old`,
    ...(size === undefined ? [] : [humanSize(size)]),
    ...(record.owner === "" ? [] : [`by ${record.owner}`]),
    ...(expires === undefined ? [] : [`dropped in ${age(2 * Date.now() - expires)} unless it is used`]),
  ];
  return `${record.id === current.id ? "* " : "  "}${record.name} · ${parts.join(" · ")}`;
}

function forked({ name, method }: WorkspaceRecord, base: WorkspaceRecord, current: WorkspaceRecord): string {
  return `forked ${base.name} as ${name} (${method})\nIt is served at /mcp/w/${name} over HTTP, and on stdio with --workspace-name ${name}. This connection stays in ${current.name}.`;
}

async function difference(
  workspaces: Workspaces,
  target: WorkspaceRecord,
  call: CallContext,
): Promise<Reply> {
  const room = answerBytes(call.settings);
  const budget = { room, deleted: false, signal: call.signal };
  const files = await workspaces.diff(target, call.workspace, budget);
  if (files.length === 0) return text(`${target.name} has no changes of its own`);
  const lines = new AnswerLines(room - 300);
  const directories = files.filter(({ kind }) => kind === "directory").length;
  const counts = [
    ...(files.length > directories ? [counted(files.length - directories, "file")] : []),
    ...(directories > 0 ? [counted(directories, "directory", "directories")] : []),
  ];
  const differ = files.length === 1 ? "differs" : "differ";
  lines.note(`${counts.join(" and ")} of ${target.name} ${differ} from its base`);
  addFiles(lines, files, ({ path, effect, kind, added, removed, modes }) => {
    const counts =
      added === undefined ? ` (${kind === "file" ? "binary" : kind})` : ` (+${added} -${removed})`;
    const mode = modes === undefined ? "" : ` mode ${modes.map(one => one.toString(8)).join(" -> ")}`;
    return `${letters[effect]} ${printable(path)}${counts}${mode}`;
  });
  let cut = false;
  for (const { path, effect, diff, added = 0, removed = 0 } of files) {
    if (effect === "deleted") continue; // its counts say it all
    if (diff !== "") cut ||= !lines.add(`\n${printable(path)}\n${diff.trimEnd()}`);
    else cut ||= added + removed > 0;
  }
  if (cut) lines.note("[some diffs are left out: read the files]");
  return text(lines.toString());
}

function addFiles<F>(lines: AnswerLines, files: readonly F[], print: (file: F) => string): void {
  const shown = files.findIndex(file => !lines.add(print(file)));
  if (shown >= 0) lines.note(`[and ${counted(files.length - shown, "more file")}]`);
}

/** Since a moment, in the largest unit that fits. */
function age(since: number): string {
  const minutes = Math.max(0, Math.round((Date.now() - since) / 60_000));
  if (minutes < 120) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}
