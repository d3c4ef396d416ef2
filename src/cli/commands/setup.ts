// `polyfs setup`: adds polyfs to the configuration of MCP clients, or removes it. Shows each change as a diff and
// asks; a file that it cannot edit safely stays, with instructions for editing by hand.
import { join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { plainWording, say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { unifiedDiff } from "../../engine/text/diff.ts";
import { chooseDialect } from "../dialect.ts";
import { openDirectories } from "../directories.ts";
import { fromHome, type OptionLayer } from "../layer.ts";
import { unusedInDialect } from "../modes.ts";
import { suggestion } from "../nearest.ts";
import { print } from "../print.ts";
import { type Client, surroundings } from "../setup/client.ts";
import { clientsOn } from "../setup/clients.ts";
import { isThere, readConfiguration, writeConfiguration } from "../setup/configuration.ts";
import { launchOf } from "../setup/launch.ts";
import { type NameRequest, nameFor, nameToRemove, servedBy } from "../setup/server-name.ts";
import { type ServerEntry, Unfit } from "../setup/unfit.ts";
import { standardInput } from "../standard-input.ts";
import { colouredDiff, styleOf } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { command, type Given } from "./command.ts";

const names = Object.keys(clientsOn(surroundings(process.env)));

export const setup = command({
  name: "setup",
  operands: "[CLIENT] [DIR...]",
  description: `Writes polyfs into the configuration of CLIENT, or of every client that is found on this machine, so that it serves DIR (default: the working directory). Entries for other projects stay. Shows the change and asks before writing; keeps the old file as a backup. Serving options are written into the entry. Clients: ${names.join(", ")}.`,
  own: {
    print: { help: "Only print the configuration entry" },
    "dry-run": { help: "The same as --print" },
    remove: { help: "Remove polyfs from the configuration" },
    yes: { help: "Do not ask; required without a terminal" },
    name: {
      value: "NAME",
      help: "Name of the entry (default polyfs; polyfs-PROJECT for further projects)",
    },
    replace: { help: "Replace an entry of that name, even if it serves other directories" },
    scope: {
      value: "SCOPE",
      help: "Where to write: user (default), or project, for the client's file inside DIR",
    },
    url: { value: "URL", help: "Connect to a server that runs with --http, instead of starting one" },
    token: { value: "TOKEN", help: "The token for --url (see polyfs token); - reads it from stdin" },
    npx: { help: "Let the client start polyfs with npx, even if it is installed" },
  },
  options: [
    ...(["dialect", "read-only", "allow-read", "allow-write", "allow-cwd"] as const),
    "allow-filesystem-root",
    ...(["allow-run", "run", "run-network", "plain-names", "hard-links", "log-level"] as const),
  ],
  examples: [
    ["polyfs setup", "all clients on this machine, for this directory"],
    ["polyfs setup claude-desktop ~/project", "one client, one directory"],
    ["polyfs setup --print codex --read-only ~/notes", "print the entry for Codex's file"],
    ["polyfs setup claude-code --scope project", "only for this project, in its .mcp.json"],
    ["polyfs setup codex --allow-cwd", "serve whatever directory Codex is started in"],
    ["polyfs setup cursor --url http://127.0.0.1:3000/mcp --token TOKEN", "a server that runs elsewhere"],
    ["polyfs setup cursor --remove", "remove the entry"],
  ],
  most: Number.POSITIVE_INFINITY,
  async run(given) {
    const { chosen, directories } = wanted(given);
    await warnForServer(given);
    const known = clientsOn(surroundings(process.env));
    const found = Object.entries(known).filter(([id, client]) =>
      // One program may be installed in two ways, each with a file of its own.
      chosen === undefined || id === `${chosen}-store` ? isThere(client.trace) : id === chosen,
    );
    if (found.length === 0)
      throw new UsageError(
        `no client found on this machine; name one, as in polyfs setup cursor DIR: ${names.join(", ")}`,
      );
    const clients = inScope(
      found.map(([, client]) => client),
      given.own.get("scope") ?? "user",
      directories[0] ?? process.cwd(),
    );
    const entryFor = await entries(given, directories);
    let code = 0;
    for (const client of clients) code = Math.max(code, await setUp(client, entryFor, given));
    return code;
  },
});

/** What the server would warn about each time that it starts. */
async function warnForServer({ own, config, line }: Given): Promise<void> {
  if (own.has("remove") || own.has("url")) return;
  for (const warning of unusedInDialect(config, await chooseDialect(config.dialect), undefined, line))
    await print(process.stderr, `polyfs: ${warning}\n`);
}

/** The first word is a client if it is the name of one; the others are directories. */
function wanted({ operands, line }: Given): { chosen?: string; directories: readonly string[] } {
  const [first = ""] = operands;
  const chosen = names.includes(first) ? first : undefined;
  const named = chosen === undefined ? operands : operands.slice(1);
  if (chosen === undefined && /^[^/\\~]+$/.test(first) && !isThere(resolve(first)))
    throw new UsageError(
      `no client and no directory ${JSON.stringify(first)}${suggestion(first.toLowerCase(), names)}; clients: ${names.join(", ")}`,
    );
  const directories = named.map(word => resolve(fromHome(word)));
  return {
    ...(chosen !== undefined && { chosen }),
    directories: isEnough(directories, line) ? directories : [process.cwd()],
  };
}

function isEnough(directories: readonly string[], { grants, values }: OptionLayer): boolean {
  return directories.length > 0 || grants.length > 0 || values["allow-cwd"] === true;
}

/** The clients with the file to write. */
function inScope(clients: readonly Client[], scope: string, directory: string): Client[] {
  if (scope === "user") return [...clients];
  if (scope !== "project")
    throw new UsageError(`--scope must be user or project, not ${JSON.stringify(scope)}`);
  const able = clients.flatMap(client =>
    client.project === undefined ? [] : [{ ...client, file: join(directory, client.project) }],
  );
  if (able.length === 0)
    throw new UsageError(`${clients.map(({ title }) => title).join(", ")}: there is no file for a project`);
  return able;
}

type EntryFor = (client: Client, name: string) => ServerEntry;

/** The entry for each client: a server to start, or the URL of a running one. */
async function entries(given: Given, directories: readonly string[]): Promise<EntryFor> {
  const { own, line } = given;
  const [url, token] = [own.get("url"), own.get("token")];
  if (url === undefined) {
    if (token !== undefined) throw new UsageError("--token is for --url");
    if (!own.has("remove")) await check(given, directories);
    const { command: program, args } = launchOf(line, directories, own.has("npx"));
    return (client, name) => client.entry(program, args, name);
  }
  if (!/^https?:\/\/[^/]/.test(url))
    throw new UsageError(`--url needs an address such as http://127.0.0.1:3000/mcp`);
  const secret = token === "-" ? (await standardInput()).trim() : token;
  const headers: Record<string, string> = secret === undefined ? {} : { Authorization: `Bearer ${secret}` };
  return (client, name) => {
    if (client.remote === undefined)
      throw new Unfit("its file cannot name a server that is reached over HTTP; leave --url out");
    return client.remote(url, headers, name);
  };
}

/** Report a mistake now: a client would only say that the server does not start. */
async function check({ config }: Given, directories: readonly string[]): Promise<void> {
  if (config.dialect !== undefined) await chooseDialect(config.dialect);
  const access = config["read-only"] ? "read-only" : "read-write";
  const grants = [...config.grants, ...directories.map(path => ({ path, access }) as const)];
  openDirectories({ ...config, grants }, { withoutRoots: "usage" }, undefined)[Symbol.dispose]();
}

async function setUp(client: Client, entryFor: EntryFor, { own, config, operands }: Given): Promise<number> {
  const { title, file, format } = client;
  const style = styleOf(process.stdout);
  let name = own.get("name") ?? "polyfs";
  const snippetFor = (one: string) => format.put("", one, entryFor(client, one));
  const printed = own.has("print") || own.has("dry-run");
  try {
    const served = servedBy(snippetFor(name));
    const wish = { name: own.get("name"), served, replace: own.has("replace") };
    if (printed) {
      await print(process.stderr, `${style.dim(`${title}: ${file}`)}\n`);
      await print(process.stdout, snippetFor(printedName(client, wish, name)));
      return 0;
    }
    const configuration = readConfiguration(file, config["state-dir"]);
    const { text } = configuration;
    const servers = format.servers(text);
    const anywhere = operands.length < 2;
    const remove = own.has("remove");
    name = (remove ? nameToRemove(servers, wish, anywhere) : nameFor(servers, wish)) ?? name;
    const edited = remove ? format.remove(text, name) : format.put(text, name, entryFor(client, name));
    if (edited === text) {
      await print(process.stdout, `${title}: ${remove ? "no entry" : "nothing to change"} (${file})\n`);
      return 0;
    }
    const from = configuration.bytes === undefined ? "/dev/null" : file;
    await print(
      process.stdout,
      `${style.bold(title)}\n${colouredDiff(unifiedDiff(text, edited, { from, to: file }), style)}`,
    );
    if (!own.has("yes") && !(await agreed())) {
      await print(process.stderr, "polyfs: nothing was written\n");
      return 1;
    }
    const backup = await writeConfiguration(configuration, edited, config["state-dir"]);
    await print(
      process.stdout,
      `Written.${backup === undefined ? "" : ` As it was: ${backup}`}\n${remove ? `Restart ${title}, which may still run it.` : client.afterwards}\n`,
    );
    return 0;
  } catch (error) {
    const reason =
      error instanceof Unfit ? error.message : error instanceof Fault ? say(plainWording, error) : undefined;
    if (reason === undefined) throw error;
    await print(process.stderr, `polyfs: ${title} was not changed (${file}): ${reason}\n`);
    if (!own.has("remove") && !(own.has("url") && client.remote === undefined))
      await print(process.stderr, `To add it by hand:\n${snippetFor(name)}`);
    return 1;
  }
}

/** The name of the entry; with --print, also for a file that cannot be read. */
function printedName({ file, format }: Client, wish: NameRequest, otherwise: string): string {
  try {
    return nameFor(format.servers(readConfiguration(file).text), wish);
  } catch (error) {
    if (error instanceof Unfit || error instanceof Fault) return otherwise;
    throw error;
  }
}

async function agreed(): Promise<boolean> {
  if (!process.stdin.isTTY) {
    await print(process.stderr, "polyfs: there is no terminal to ask on: add --yes to write this\n");
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^(y|yes)$/i.test((await asking.question("Write this? [y/N] ")).trim());
  } finally {
    asking.close();
  }
}
