// `polyfs setup`: writes polyfs into the configuration of MCP clients, or takes it out. It shows each change as a diff
// and asks; what it cannot edit safely it leaves alone, and says what to write by hand.
import { resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { plainWording, say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { unifiedDiff } from "../../engine/text/diff.ts";
import { chooseDialect } from "../dialect.ts";
import { openDirectories } from "../directories.ts";
import { fromHome } from "../layer.ts";
import { suggestion } from "../nearest.ts";
import { print } from "../print.ts";
import { type Client, clientsOn, surroundings } from "../setup/clients.ts";
import { isThere, readConfiguration, writeConfiguration } from "../setup/configuration.ts";
import { type Launch, launchOf } from "../setup/launch.ts";
import { Unfit } from "../setup/unfit.ts";
import { colouredDiff, styleOf } from "../style.ts";
import { UsageError } from "../usage-error.ts";
import { command, type Given } from "./command.ts";

const names = Object.keys(clientsOn(surroundings(process.env)));

export const setup = command({
  name: "setup",
  operands: "[CLIENT] [DIR...]",
  description: `Writes polyfs into the configuration of CLIENT, or of every client that is found on this machine, so that it serves DIR (default: the working directory). Shows the change first and asks; the old file stays beside the new one. Options for serving are written into the configuration. Clients: ${names.join(", ")}.`,
  own: {
    print: { help: "Only print what belongs into the configuration" },
    remove: { help: "Take polyfs out of the configuration" },
    yes: { help: "Do not ask; needed where there is no terminal" },
    name: { value: "NAME", help: "What the server is called there (default polyfs)" },
    npx: { help: "Let the client start it with npx, also where it is installed" },
  },
  options: [
    ...(["dialect", "read-only", "allow-read", "allow-write", "allow-filesystem-root"] as const),
    ...(["allow-run", "run", "run-network", "plain-names", "hard-links", "log-level"] as const),
  ],
  examples: [
    ["polyfs setup", "all clients on this machine, for this directory"],
    ["polyfs setup claude-desktop ~/project", "one client, one directory"],
    ["polyfs setup --print codex --read-only ~/notes", "what to put into Codex's file"],
    ["polyfs setup cursor --remove", "take it out again"],
  ],
  most: Number.POSITIVE_INFINITY,
  async run(given) {
    const { chosen, directories } = wanted(given);
    const known = clientsOn(surroundings(process.env));
    const clients = Object.entries(known).filter(([id, client]) =>
      // One program may be installed in two ways, each with a file of its own.
      chosen === undefined || id === `${chosen}-store` ? isThere(client.trace) : id === chosen,
    );
    if (clients.length === 0)
      throw new UsageError(`no client is found on this machine; name one: ${names.join(", ")}`);
    if (!given.own.has("remove")) await check(given, directories);
    const launch = launchOf(given.line, directories, given.own.has("npx"));
    let code = 0;
    for (const [, client] of clients) code = Math.max(code, await setUp(client, launch, given));
    return code;
  },
});

/** The first word is a client if it is the name of one; the others are directories. */
function wanted({ operands, line }: Given): { chosen?: string; directories: readonly string[] } {
  const [first = ""] = operands;
  const chosen = names.includes(first) ? first : undefined;
  const named = chosen === undefined ? operands : operands.slice(1);
  if (chosen === undefined && /^[a-z-]+$/.test(first) && !isThere(resolve(first)))
    throw new UsageError(
      `no client and no directory ${JSON.stringify(first)}${suggestion(first, names)}; clients: ${names.join(", ")}`,
    );
  const directories = named.map(word => resolve(fromHome(word)));
  return {
    ...(chosen !== undefined && { chosen }),
    directories: directories.length > 0 || line.grants.length > 0 ? directories : [process.cwd()],
  };
}

/** A mistake is told now, not by a client that only says that a server does not start. */
async function check({ config }: Given, directories: readonly string[]): Promise<void> {
  if (config.dialect !== undefined) await chooseDialect(config.dialect);
  const access = config["read-only"] ? "read-only" : "read-write";
  const grants = [...config.grants, ...directories.map(path => ({ path, access }) as const)];
  openDirectories({ ...config, grants }, { withoutRoots: "usage" }, undefined)[Symbol.dispose]();
}

async function setUp(client: Client, launch: Launch, { own, config }: Given): Promise<number> {
  const { title, file, format } = client;
  const name = own.get("name") ?? "polyfs";
  const entry = client.entry(launch.command, launch.args, name);
  const style = styleOf(process.stdout);
  const snippet = format.put("", name, entry);
  if (own.has("print")) {
    await print(process.stderr, `${style.dim(`${title}: ${file}`)}\n`);
    await print(process.stdout, snippet);
    return 0;
  }
  try {
    const configuration = readConfiguration(file, config["state-dir"]);
    const { text } = configuration;
    const edited = own.has("remove") ? format.remove(text, name) : format.put(text, name, entry);
    if (edited === text) {
      await print(
        process.stdout,
        `${title}: ${own.has("remove") ? "it is not there" : "nothing to change"} (${file})\n`,
      );
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
      `Written.${backup === undefined ? "" : ` As it was: ${backup}`}\n${client.afterwards}\n`,
    );
    return 0;
  } catch (error) {
    const reason =
      error instanceof Unfit ? error.message : error instanceof Fault ? say(plainWording, error) : undefined;
    if (reason === undefined) throw error;
    await print(process.stderr, `polyfs: ${title} was left alone (${file}): ${reason}\n`);
    if (!own.has("remove")) await print(process.stderr, `To put it in by hand:\n${snippet}`);
    return 1;
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
