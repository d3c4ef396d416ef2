// `polyfs token`: adds, lists and removes the tokens of a file. A new token is printed once, and nowhere kept.
import { plainWording, say } from "../../contract/wording.ts";
import { dialects } from "../../dialects/index.ts";
import { Fault } from "../../engine/fault.ts";
import { replaceNamedFile } from "../../engine/workspace/system/named-file.ts";
import { hashText, newToken, printTokens, type TokenRecord } from "../../mcp/auth/tokens-file.ts";
import { claimFile } from "../claimed-file.ts";
import { listed } from "../columns.ts";
import { suggestion } from "../nearest.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command, type Given } from "./command.ts";
import { countIn, fileIn, grantsIn, momentIn, parsed, tokensIn } from "./token-values.ts";

export const token = command({
  name: "token",
  operands: "add NAME | rotate NAME | list | remove NAME",
  description:
    "Manages the tokens for polyfs --http --tokens FILE. add prints a new token once; the file stores its hash. rotate gives a token a new secret and revokes the old one. list prints the tokens of the file; remove deletes one. A running server applies the change immediately.",
  own: {
    read: { value: "DIR", help: "Let it read DIR (repeatable)", with: ["add"] },
    write: {
      value: "DIR",
      help: "Let it read and write DIR (repeatable); without any DIR, all served directories",
      with: ["add"],
    },
    effects: {
      value: "LIST",
      help: "What it may do: reads, writes, runs, and reviews (the page at /review) (default reads,writes)",
      with: ["add"],
    },
    tools: { value: "LIST", help: "The only tools that it may call", with: ["add"] },
    workspace: {
      value: "NAME",
      help: "The only workspace that it may use, with its forks",
      with: ["add"],
    },
    dialect: {
      value: "NAME",
      help: "The only dialect that it may use, also at /mcp",
      with: ["add"],
    },
    expires: {
      value: "WHEN",
      help: "A date (2027-01-31), a date and time, or a time from now (12h, 30d)",
      with: ["add", "rotate"],
    },
    "per-minute": { value: "N", help: "How many requests it may send in a minute", with: ["add"] },
    concurrency: { value: "N", help: "How many of its calls may run at once", with: ["add"] },
    "max-bytes": {
      value: "N",
      help: "Refuse changes after which the workspace, or its part of the shared store, would hold more than N bytes",
      with: ["add"],
    },
  },
  options: ["tokens", "workspaces"],
  examples: [
    ["polyfs token add alice --tokens tokens.json", "may read and change everything that is served"],
    [
      "polyfs token add ci --tokens tokens.json --read ~/project --effects reads --expires 30d",
      "may read one directory, for a month",
    ],
    ["polyfs token rotate ci --tokens tokens.json", "a new secret for the same rights"],
    ["polyfs token list --tokens tokens.json", "list the tokens and their rights"],
    ["polyfs token remove ci --tokens tokens.json", "revoke a token"],
  ],
  most: { add: 1, rotate: 1, list: 0, remove: 1 },
  apart: ["tokens"],
  async run(given) {
    const [verb = "", name] = given.operands;
    const file = fileIn(given.config.tokens);
    if (verb === "list") return await list(tokensIn(file));
    if (name === undefined) throw new UsageError(`polyfs token ${verb} needs a NAME`);
    using _ = await claimFile(file);
    if (verb === "add") return await add(file, name, given);
    return verb === "rotate" ? await rotate(file, name, given) : await remove(file, name);
  },
});

async function add(file: string, name: string, { own, each, config }: Given): Promise<number> {
  const before = tokensIn(file, []);
  if (before.some(record => record.name === name))
    throw new UsageError(`${file} has a token named ${JSON.stringify(name)} already: remove it first`);
  const dialect = own.get("dialect");
  if (dialect !== undefined && !Object.hasOwn(dialects, dialect))
    throw new UsageError(`unknown dialect ${dialect}; there are: ${Object.keys(dialects).join(", ")}`);
  const tools = own.get("tools")?.split(",");
  const effects = own.get("effects")?.split(",");
  await refuseUnusableTools(tools, dialect, effects ?? ["reads", "writes"]);
  const roots = grantsIn(each("read"), each("write"));
  if (roots !== undefined && own.has("workspace"))
    throw new UsageError("--workspace has no effect with --read or --write: a token is for either");
  const secret = newToken();
  const record = {
    name,
    hash: hashText(secret),
    roots,
    effects,
    tools,
    dialect,
    workspace: own.get("workspace"),
    workspaceId: await idOf(own.get("workspace"), config),
    expires: momentIn(own.get("expires")),
    perMinute: countIn(own, "per-minute"),
    concurrency: countIn(own, "concurrency"),
    maxBytes: countIn(own, "max-bytes"),
  };
  // The same check that the server makes.
  const [checked] = parsed(JSON.stringify({ tokens: [record] }), file);
  if (checked === undefined) throw new UsageError("nothing to add");
  save(file, [...before, checked]);
  await print(process.stdout, `${secret}\n`);
  return 0;
}

/** The token is for the workspace that has the name now. Without --workspaces the server finds it at the first use. */
async function idOf(name: string | undefined, config: Given["config"]): Promise<string | undefined> {
  if (name === undefined || config.workspaces === undefined) return undefined;
  const { openWorkspaces } = await import("../workspaces.ts");
  await using workspaces = await openWorkspaces(config);
  return (await workspaces.find(name)).id;
}

/** A new secret for the same rights; --expires may set another end. */
async function rotate(file: string, name: string, { own }: Given): Promise<number> {
  const before = tokensIn(file);
  const old = before.find(record => record.name === name);
  if (old === undefined) throw new UsageError(`${file} has no token named ${JSON.stringify(name)}`);
  const expires = momentIn(own.get("expires")) ?? old.expires;
  if (expires !== undefined && Date.parse(expires) <= Date.now())
    throw new UsageError(`the token ${name} expired at ${expires}: set a new expiry with --expires`);
  const secret = newToken();
  const renewed = { ...old, hash: hashText(secret), ...(expires !== undefined && { expires }) };
  save(
    file,
    before.map(record => (record === old ? renewed : record)),
  );
  await print(process.stdout, `${secret}\n`);
  return 0;
}

async function refuseUnusableTools(
  tools: readonly string[] | undefined,
  dialect: string | undefined,
  effects: readonly string[],
): Promise<void> {
  if (tools === undefined) return;
  const loads = Object.entries(dialects).filter(([name]) => dialect === undefined || name === dialect);
  const loaded = await Promise.all(loads.map(([, load]) => load()));
  const known = loaded.flatMap(one => one.tools);
  const names = known.map(({ name }) => name);
  const unknown = tools.find(tool => !names.includes(tool));
  if (unknown === undefined) {
    // Dialects have different tools of one name.
    const useless = tools.find(tool =>
      known.every(({ name, effect }) => name !== tool || !effects.includes(effect)),
    );
    if (useless === undefined) return;
    const needed = known.find(({ name }) => name === useless)?.effect;
    throw new UsageError(
      `--tools ${useless} has no effect without --effects ${[...effects, needed].join()}: the token may not call it`,
    );
  }
  const where = dialect === undefined ? "" : ` in ${dialect}`;
  throw new UsageError(`no tool ${JSON.stringify(unknown)}${where}${suggestion(unknown, names)}`);
}

async function remove(file: string, name: string): Promise<number> {
  const before = tokensIn(file);
  const after = before.filter(record => record.name !== name);
  if (after.length === before.length)
    throw new UsageError(`${file} has no token named ${JSON.stringify(name)}`);
  save(file, after);
  return 0;
}

async function list(records: readonly TokenRecord[]): Promise<number> {
  const rows = records.map(({ name, roots, effects, tools, dialect, workspace, expires }) => {
    const parts = [
      (effects ?? ["reads", "writes"]).join(", "),
      ...(roots ?? []).map(({ path, access }) => `${path} (${access})`),
      ...(workspace === undefined ? [] : [`workspace: ${workspace}`]),
      ...(tools === undefined ? [] : [`tools: ${tools.join(", ")}`]),
      ...(dialect === undefined ? [] : [`dialect: ${dialect}`]),
      ...(expires === undefined ? [] : [`expires ${expires}`]),
    ];
    return [name, parts.join("; ")] as const;
  });
  if (rows.length > 0) await print(process.stdout, listed(rows));
  return 0;
}

function save(file: string, records: readonly TokenRecord[]): void {
  try {
    replaceNamedFile(file, printTokens(records));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new UsageError(`the tokens cannot be written: ${say(plainWording, error)}`);
  }
}
