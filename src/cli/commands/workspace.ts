// `polyfs workspace`: what people do with workspaces: list, adopt, create, fork, compare, merge, drop and restore them.
import { join, resolve } from "node:path";
import { sayConflicts } from "../../contract/conflict-wording.ts";
import { printable } from "../../contract/wording.ts";
import { openEngine } from "../../engine/engine.ts";
import { Fault } from "../../engine/fault.ts";
import { humanSize } from "../../engine/text/size.ts";
import { temporaryFolder } from "../../engine/workspace/system/temporary-folder.ts";
import { collect, tidy } from "../../engine/workspaces/collect.ts";
import type { ForkDifference } from "../../engine/workspaces/file-difference.ts";
import type { ListedWorkspace, Opener, Workspaces } from "../../engine/workspaces/workspaces.ts";
import { refuseInWorkspaces } from "../audit.ts";
import { listed } from "../columns.ts";
import { CommandAudit } from "../command-audit.ts";
import { fromHome } from "../layer.ts";
import { print } from "../print.ts";
import { visible, visibleName } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { userName } from "../user-name.ts";
import { graceOf, openWorkspaces } from "../workspaces.ts";
import { command, type Given } from "./command.ts";

type Action = (workspaces: Workspaces, given: Given, opener: Opener) => Promise<string>;

const actions: { readonly [word: string]: readonly [operands: number, run: Action] } = {
  list: [0, list],
  adopt: [2, adopt],
  create: [2, create],
  fork: [1, fork],
  diff: [1, diff],
  merge: [1, merge],
  drop: [1, drop],
  restore: [1, restore],
  collect: [0, collectNow],
};

export const workspace = command({
  name: "workspace",
  operands:
    "list | adopt NAME DIR | create NAME [DIR] | fork NAME --from NAME | diff NAME | merge NAME | drop NAME | restore NAME | collect",
  description:
    "Manages the workspaces in a directory. list prints them; adopt turns an existing directory into a workspace, in place; create makes an empty one, or one with a copy of DIR; fork makes one that starts as a copy of another; diff shows what a fork changed; merge applies that to its base, all or nothing, as one change that polyfs undo reverts; drop removes a workspace (an adopted directory stays); restore brings it back until it is collected (by the id that list --dropped shows, if several had the name); collect removes workspaces that were dropped long enough ago. With --store, it manages the workspaces of a shared store, from any machine.",
  own: {
    from: { value: "NAME", help: "fork: the workspace to copy", with: ["fork"] },
    prefer: {
      value: "SIDE",
      help: "merge: where both changed a file, take the version of the fork or of the base",
      with: ["merge"],
    },
    dropped: { help: "list: dropped workspaces that can be restored", with: ["list"] },
    stat: { help: "diff: only the names of the files", with: ["diff"] },
    json: { help: "list, diff, merge: print JSON", with: ["list", "diff", "merge"] },
  },
  options: [
    "workspaces",
    "workspace-max-age",
    "workspace-keep-dropped",
    "policy",
    "audit",
    "audit-max-bytes",
    "store",
    "store-objects",
  ],
  examples: [
    ["polyfs workspace adopt main ~/project --workspaces ~/ws", "a directory becomes the workspace main"],
    ["polyfs workspace fork task-1 --from main --workspaces ~/ws", "a fork to work in"],
    ["polyfs workspace merge task-1 --workspaces ~/ws", "apply the changes of task-1 to main"],
  ],
  most: Object.fromEntries(Object.entries(actions).map(([word, [most]]) => [word, most])),
  async run(given) {
    const [word = "", ...operands] = given.operands;
    const [, run] = (Object.hasOwn(actions, word) ? actions[word] : undefined) ?? [];
    if (run === undefined) throw new UsageError("see polyfs workspace --help");
    // A server may keep the copies in DIR up to date, so the command has copies of its own.
    using folder = given.config.store === undefined ? undefined : temporaryFolder();
    const config = folder
      ? { ...given.config, workspaces: join(folder.path, "all"), "state-dir": join(folder.path, "state") }
      : given.config;
    // Copied, not mounted: the folder is removed at the end.
    const workspaces = await openWorkspaces(config, undefined, folder && "copy");
    using engine = openEngine({ roots: [], state: config["state-dir"], workspaces });
    await using _ = workspaces;
    if (config.audit !== undefined) await refuseInWorkspaces("--audit", config.audit, workspaces);
    else if (Object.hasOwn(given.line.values, "policy"))
      throw new UsageError("--policy has no effect without --audit: the command itself is not bound by it");
    const roots = config.audit === undefined ? [] : (await workspaces.list()).map(({ root }) => root);
    using audit = new CommandAudit(config, engine.workspace);
    // Leftovers of a killed process do no harm, but no other process may ever remove them.
    if (folder === undefined) await tidy(workspaces);
    const opener = engine.workspace.as({ action: `workspace ${word}`, client: "polyfs workspace" });
    try {
      const result = await audit.record(
        { command: `workspace ${word}`, about: toldIn(given, operands) },
        () => run(workspaces, { ...given, operands }, opener),
        roots,
      );
      await print(process.stdout, result);
      await engine.workspace.settled();
      return 0;
    } catch (error) {
      if (folder !== undefined && Fault.is(error, "nested_workspace"))
        throw new UsageError(
          `${visibleName(error.data.path)} holds the temporary directory of this command: set TMPDIR to one outside of it`,
        );
      if (!Fault.is(error, "merge_conflict")) throw error;
      const { name, base, conflicts } = error.data;
      const told = visible(sayConflicts(conflicts, printable));
      await print(
        process.stderr,
        `polyfs: nothing was merged: ${name} and ${base} changed the same lines or files\n${told}\nRewrite these files in ${name} and merge again${advice(given)}\n`,
      );
      return 1;
    }
  },
});

/** How to go on after a conflict, apart from rewriting the files. */
function advice({ own }: Given): string {
  return own.has("prefer")
    ? ". --prefer chooses between two versions of one file, not between different files with one name"
    : ", or take one side: --prefer fork or --prefer base";
}

/** As a `workspace` call has it in the audit log. */
function toldIn({ own }: Given, [name, directory]: readonly string[]) {
  return { name, directory, from: own.get("from"), prefer: own.get("prefer") };
}

function nameOf({ operands: [name] }: Given): string {
  if (name === undefined) throw new UsageError("name a workspace; see polyfs workspace --help");
  return name;
}

async function list(workspaces: Workspaces, { own }: Given): Promise<string> {
  const all: readonly ListedWorkspace[] = own.has("dropped")
    ? (await workspaces.list({ dropped: true })).map(record => ({ record, used: record.dropped ?? 0 }))
    : await workspaces.described();
  if (own.has("json")) {
    const plain = all.map(({ record, ...rest }) => ({ ...record, base: rest.baseName, ...rest }));
    return `${JSON.stringify(plain, undefined, 2)}\n`;
  }
  if (all.length === 0) return "";
  return listed(
    all.map(({ record, baseName, size, used, expires }) => [
      record.name,
      [
        baseName === undefined
          ? record.kind
          : `fork of ${baseName}${workspaces.isShared ? "" : ` (${record.method})`}`,
        `made ${day(record.created)}`,
        ...(record.dropped !== undefined
          ? [`dropped ${day(record.dropped)}`, `id ${record.id}`]
          : workspaces.isShared
            ? []
            : [`used ${day(used)}`]),
        ...(size === undefined ? [] : [humanSize(size)]),
        ...(record.owner === "" ? [] : [`by ${record.owner}`]),
        ...(workspaces.isShared ? [`revision ${record.revision}`] : [visibleName(record.root)]),
        ...(expires === undefined ? [] : [`dropped on ${day(expires)} unless it is used`]),
      ].join("  "),
    ]),
  );
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

async function adopt(workspaces: Workspaces, given: Given): Promise<string> {
  const [, directory] = given.operands;
  if (directory === undefined)
    throw new UsageError("name the directory to adopt; see polyfs workspace --help");
  const record = await workspaces.adopt(nameOf(given), resolve(fromHome(directory)), userName());
  return `${record.name} is ${visibleName(record.root)}\n`;
}

async function create(workspaces: Workspaces, given: Given): Promise<string> {
  const [, directory] = given.operands;
  const from = directory === undefined ? undefined : resolve(fromHome(directory));
  const record = await workspaces.create(nameOf(given), from, userName());
  return workspaces.isShared
    ? `${record.name} is in the store\n`
    : `${record.name} is ${visibleName(record.root)}\n`;
}

async function fork(workspaces: Workspaces, given: Given): Promise<string> {
  const from = given.own.get("from");
  if (from === undefined) throw new UsageError("name the workspace to fork: --from NAME");
  const record = await workspaces.fork(nameOf(given), from, userName());
  return workspaces.isShared
    ? `${record.name} is in the store\n`
    : `${record.name} is ${visibleName(record.root)} (${record.method})\n`;
}

const letters = { added: "A", changed: "M", deleted: "D" } as const;

async function diff(workspaces: Workspaces, given: Given, opener: Opener): Promise<string> {
  const files = await workspaces.diff(await workspaces.find(nameOf(given)), opener);
  if (given.own.has("json")) return `${JSON.stringify(files, undefined, 2)}\n`;
  return files.map(file => diffLines(file, given.own.has("stat"))).join("");
}

function diffLines(
  { path, effect, kind, added, removed, modes, diff: lines }: ForkDifference,
  short: boolean,
): string {
  const counts = added === undefined ? ` (${kind === "file" ? "binary" : kind})` : ` (+${added} -${removed})`;
  const mode = modes === undefined ? "" : ` mode ${modes.map(one => one.toString(8)).join(" -> ")}`;
  const head = `${letters[effect]} ${visibleName(path)}${counts}${mode}\n`;
  return short || lines === "" ? head : head + lines;
}

async function merge(workspaces: Workspaces, given: Given, opener: Opener): Promise<string> {
  const prefer = given.own.get("prefer");
  if (prefer !== undefined && prefer !== "fork" && prefer !== "base")
    throw new UsageError(`--prefer needs fork or base, not ${JSON.stringify(prefer)}`);
  const record = await workspaces.find(nameOf(given));
  const merged = await workspaces.merge(record, opener, { prefer });
  if (given.own.has("json")) return `${JSON.stringify(merged, undefined, 2)}\n`;
  if (merged.change === undefined) return `${record.name} has no changes to merge\n`;
  const files = merged.files.map(
    ({ path, effect, merged: both }) => `${letters[effect]} ${visibleName(path)}${both ? " (merged)" : ""}\n`,
  );
  const note = merged.unnoted
    ? "The store could not record this merge: the next one compares both sides from before it.\n"
    : "";
  const unkept = merged.unkept
    ? "A file is not kept in the history: this merge cannot be undone as a whole, only path by path.\n"
    : "";
  return `${files.join("")}change ${merged.change}\n${unkept}${note}`;
}

async function drop(workspaces: Workspaces, given: Given): Promise<string> {
  const record = await workspaces.find(nameOf(given));
  await workspaces.drop(record);
  const stays = record.kind === "adopted" ? `; ${visibleName(record.root)} is not deleted` : "";
  return `dropped ${record.name}${stays}; polyfs workspace restore ${record.name} brings it back\n`;
}

async function restore(workspaces: Workspaces, given: Given): Promise<string> {
  const record = await workspaces.restore(nameOf(given));
  return `${record.name} is back\n`;
}

async function collectNow(workspaces: Workspaces, { config }: Given): Promise<string> {
  if (workspaces.isShared) throw new UsageError("polyfs store gc cleans up a shared store");
  await collect(workspaces, graceOf(config));
  return "";
}
