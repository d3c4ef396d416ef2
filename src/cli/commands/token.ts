// `polyfs token`: adds, lists and removes the tokens of a file. A new token is printed once, and nowhere kept.
import { parseArgs } from "node:util";
import { plainWording, say } from "../../contract/wording.ts";
import { dialects } from "../../dialects/index.ts";
import { Fault } from "../../engine/fault.ts";
import { readNamedFile, writeNamedFile } from "../../engine/workspace/system/named-file.ts";
import {
  hashText,
  newToken,
  parseTokens,
  printTokens,
  type TokenRecord,
} from "../../mcp/auth/tokens-file.ts";
import { columns } from "../columns.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { fileIn, grantsIn, momentIn } from "./token-values.ts";

const help = `Usage: polyfs token add NAME --tokens FILE [options]
       polyfs token list --tokens FILE
       polyfs token remove NAME --tokens FILE

Adds a token for polyfs --http --tokens FILE, and prints it once. The file holds
a hash of it. A server that runs sees the change at once.

Options:
${columns(
  [
    ["--tokens FILE", "The file of tokens; or POLYFS_TOKENS"],
    ["--read DIR", "Let it read DIR (repeatable)"],
    ["--write DIR", "Let it read and write DIR (repeatable); without any DIR, all that is served"],
    ["--effects LIST", "What its tools may do: reads, writes, runs (default reads,writes)"],
    ["--tools LIST", "The only tools that it may call"],
    ["--dialect NAME", "The only dialect that it gets, also at /mcp"],
    ["--expires WHEN", "A date (2027-01-31), a date and time, or a time from now (12h, 30d)"],
    ["--per-minute N", "How many requests it may send in a minute"],
    ["--concurrency N", "How many of its calls may run at once"],
  ],
  "  ",
)}`;

const text = { type: "string" } as const;
const texts = { type: "string", multiple: true } as const;
const flags = {
  tokens: text,
  read: texts,
  write: texts,
  effects: text,
  tools: text,
  dialect: text,
  expires: text,
  "per-minute": text,
  concurrency: text,
  help: { type: "boolean", short: "h" },
} as const;

export async function token(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { values, positionals } = read(args);
  const [verb, name, ...more] = positionals;
  if (values.help || verb === undefined) {
    await print(values.help ? process.stdout : process.stderr, help);
    return values.help ? 0 : 2;
  }
  if (more.length > 0) throw new UsageError(`unexpected ${JSON.stringify(more[0])}; see polyfs token --help`);
  const file = fileIn(values.tokens ?? environment.POLYFS_TOKENS);
  if (verb === "list") return await list(tokensIn(file));
  if (verb !== "add" && verb !== "remove")
    throw new UsageError(`unknown command polyfs token ${verb}; there are add, list and remove`);
  if (name === undefined) throw new UsageError(`polyfs token ${verb} needs a NAME`);
  return verb === "add" ? await add(file, name, values) : await remove(file, name);
}

type Values = ReturnType<typeof read>["values"];

async function add(file: string, name: string, values: Values): Promise<number> {
  const before = tokensIn(file, []);
  if (before.some(record => record.name === name))
    throw new UsageError(`${file} has a token named ${JSON.stringify(name)} already; remove it first`);
  const { dialect } = values;
  if (dialect !== undefined && !Object.hasOwn(dialects, dialect))
    throw new UsageError(`unknown dialect ${dialect}; there are: ${Object.keys(dialects).join(", ")}`);
  const secret = newToken();
  const record = {
    name,
    hash: hashText(secret),
    roots: grantsIn(values.read, values.write),
    effects: values.effects?.split(","),
    tools: values.tools?.split(","),
    dialect,
    expires: momentIn(values.expires),
    perMinute: values["per-minute"] === undefined ? undefined : Number(values["per-minute"]),
    concurrency: values.concurrency === undefined ? undefined : Number(values.concurrency),
  };
  // The same check that the server makes.
  const [checked] = parsed(JSON.stringify({ tokens: [record] }), file);
  if (checked === undefined) throw new UsageError("nothing to add");
  save(file, [...before, checked]);
  await print(process.stdout, `${secret}\n`);
  return 0;
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
  const rows = records.map(({ name, roots, effects, tools, dialect, expires }) => {
    const parts = [
      (effects ?? ["reads", "writes"]).join(", "),
      ...(roots ?? []).map(({ path, access }) => `${path} (${access})`),
      ...(tools === undefined ? [] : [`tools: ${tools.join(", ")}`]),
      ...(dialect === undefined ? [] : [`dialect: ${dialect}`]),
      ...(expires === undefined ? [] : [`expires ${expires}`]),
    ];
    return [name, parts.join("; ")] as const;
  });
  if (rows.length > 0) await print(process.stdout, columns(rows));
  return 0;
}

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: flags, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}; see polyfs token --help`);
  }
}

/** `absent` is what a file that is not there holds; without it, it has to be there. */
function tokensIn(file: string, absent?: readonly TokenRecord[]): readonly TokenRecord[] {
  try {
    return parsed(readNamedFile(file), file);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (absent !== undefined && Fault.is(error, "not_found")) return absent;
    throw new UsageError(`the tokens cannot be read: ${say(plainWording, error)}`);
  }
}

function parsed(content: string, file: string): TokenRecord[] {
  try {
    return parseTokens(content, file);
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}

function save(file: string, records: readonly TokenRecord[]): void {
  try {
    writeNamedFile(file, printTokens(records));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new UsageError(`the tokens cannot be written: ${say(plainWording, error)}`);
  }
}
