// `polyfs store …`: what people who run a shared store do with it.
import { resolve } from "node:path";
import { copyStore } from "../../engine/store/copy-store.ts";
import {
  migrateStore,
  openExistingStore,
  openWorkspaceStore,
  type StoreAddress,
  shownAddress,
} from "../../engine/store/open-store.ts";
import { humanSize } from "../../engine/text/size.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command, type Given } from "./command.ts";
import { timeAgo } from "./duration.ts";

const day = 86_400_000;
/** Less could be shorter than a write takes: what it has put would be gone before it is named. */
const leastGraceMs = 600_000;

const verbs: { readonly [verb: string]: (given: Given) => Promise<number> } = {
  migrate,
  check,
  gc,
  list,
  export: given => copy(given, "export"),
  import: given => copy(given, "import"),
};

export const store = command({
  name: "store",
  operands: `${Object.keys(verbs).join("|")} [DIR]`,
  description:
    "Manages a shared store. migrate creates or upgrades its tables, even while servers run; check reports damage; gc removes unreferenced objects; list prints the workspaces; export and import copy everything to and from a directory, which is itself a store.",
  own: {
    grace: {
      value: "TIME",
      help: "With gc: keep dropped workspaces and unreferenced objects for this long (1d)",
      with: ["gc"],
    },
    "dry-run": { help: "With gc: only print what would be removed", with: ["gc"] },
    json: { help: "Print JSON" },
  },
  options: ["store", "store-objects"],
  examples: [
    ["polyfs store migrate --store postgres://polyfs@db/polyfs", "set up a new store, or update it"],
    ["polyfs store check", "look for damage in the store that POLYFS_STORE names"],
    ["polyfs store gc --grace 7d --dry-run", "print what would be removed"],
    ["polyfs store export /backup/polyfs", "copy everything into a directory"],
  ],
  most: { migrate: 0, check: 0, gc: 0, list: 0, export: 1, import: 1 },
  async run(given) {
    const [verb = ""] = given.operands;
    const action = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
    if (action === undefined) throw new UsageError("see polyfs store --help");
    if (given.config.store === undefined)
      throw new UsageError("name the store: --store postgres://…, or POLYFS_STORE in the environment");
    return await action(given);
  },
});

async function migrate(given: Given): Promise<number> {
  const address = addressOf(given);
  const done = await migrateStore({ store: address });
  const at = shownAddress(address);
  if (done === undefined) return await told(given, { migrated: false }, `${at} needs no tables`);
  const { from, to } = done;
  const text = from === to ? `${at} is at version ${to} already` : `${at}: version ${from} → ${to}`;
  return await told(given, { migrated: from !== to, from, to }, text);
}

async function check(given: Given): Promise<number> {
  await using opened = await openExistingStore(storeOf(given));
  const found = [];
  for await (const damage of opened.check()) found.push(damage);
  const lines = found.map(
    ({ what, where, workspaces }) =>
      `${what.replace("_", " ")}: ${where}${workspaces.length > 0 ? ` (${workspaces.join(", ")})` : ""}`,
  );
  await told(given, { damages: found }, lines.length > 0 ? lines.join("\n") : "no damage found");
  return found.length > 0 ? 1 : 0;
}

async function gc(given: Given): Promise<number> {
  const wanted = given.own.get("grace");
  const graceMs = wanted === undefined ? day : timeAgo(wanted);
  if (graceMs === undefined || graceMs < leastGraceMs)
    throw new UsageError(
      `--grace needs a time such as 2h or 7d, of 10m or more, not ${JSON.stringify(wanted)}`,
    );
  await using opened = await openExistingStore(storeOf(given));
  const dryRun = given.own.has("dry-run");
  const { workspaces, objects, bytes } = await opened.collect({ graceMs, dryRun });
  const what = `${workspaces} dropped workspaces and ${objects} objects (${humanSize(bytes)})`;
  return await told(
    given,
    { workspaces, objects, bytes, dryRun },
    `${dryRun ? "would remove" : "removed"} ${what}`,
  );
}

async function list(given: Given): Promise<number> {
  await using opened = await openExistingStore(storeOf(given));
  const all = await opened.list();
  const lines = all.map(({ name, revision, bytes }) => `${name}\trevision ${revision}\t${humanSize(bytes)}`);
  return await told(given, { workspaces: all }, lines.length > 0 ? lines.join("\n") : "no workspaces");
}

async function copy(given: Given, verb: "export" | "import"): Promise<number> {
  const directory = given.operands[1];
  // An empty one, as from a variable that is not set, would be the working directory.
  if (!directory) throw new UsageError(`polyfs store ${verb} needs a DIR`);
  const [shared, local] = [storeOf(given), { store: resolve(directory) }];
  const [source, target] = verb === "export" ? [shared, local] : [local, shared];
  await using from = await openExistingStore(source);
  await using to = await openWorkspaceStore(target);
  const done = await copyStore(from, to);
  const { workspaces, entries, objects } = done;
  return await told(given, done, `${workspaces} workspaces, ${entries} entries, ${objects} objects copied`);
}

function storeOf({ config }: Given): StoreAddress {
  return { store: config.store ?? "", objects: config["store-objects"] };
}

function addressOf({ config }: Given): string {
  return config.store ?? "";
}

async function told({ own }: Given, value: object, text: string): Promise<number> {
  await print(process.stdout, `${own.has("json") ? JSON.stringify(value) : text}\n`);
  return 0;
}
