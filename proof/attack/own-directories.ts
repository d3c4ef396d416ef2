// The home directory is served, and the directories of the program itself are in it: state, configuration, compiled
// code. What an agent puts there decides what the next start allows or runs, so no tool and no command reaches them,
// also where they did not exist before the start, after an attempt to move the directories above them, and where this
// server was told to keep its own files elsewhere.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Tool } from "../../src/contract/tool.ts";
import { type Answer, call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";
import { sample } from "./sample.ts";

const own = [".config/polyfs", ".cache/polyfs", ".local/state/polyfs"] as const;
const planted = "planted.json";
const marker = "PLANTED";

export async function attackOwnDirectories(
  dialect: Dialect,
  trial: Trial,
  args: readonly string[],
): Promise<void> {
  if (!trial.tally.wants("A170")) return;
  for (const existing of [[], [".config"], [".config/polyfs", ".local/state"]]) {
    const elsewhere = existing.length === 1 ? mkdtempSync(join(tmpdir(), "polyfs-elsewhere-")) : undefined;
    const home = mkdtempSync(join(tmpdir(), "polyfs-home-"));
    for (const directory of existing) mkdirSync(join(home, directory), { recursive: true });
    writeFileSync(join(home, "pub.txt"), "PUBLIC\n");
    writeFileSync(join(home, planted), `${marker}\n`);
    const client = await StdioClient.start({
      dialect: dialect.name,
      root: home,
      args,
      env: {
        HOME: home,
        POLYFS_STATE_DIR: elsewhere,
        POLYFS_CODE_CACHE: elsewhere && "off",
        XDG_STATE_HOME: undefined,
      },
    });
    try {
      for (const directory of own) await attackOne(client, dialect, trial, home, directory);
    } finally {
      await client.close();
      for (const made of [home, elsewhere])
        if (made !== undefined) rmSync(made, { recursive: true, force: true });
    }
  }
}

async function attackOne(
  client: StdioClient,
  dialect: Dialect,
  { tally }: Trial,
  home: string,
  directory: string,
): Promise<void> {
  const check = (what: string, answer: Answer): void => {
    if (readdirSync(home, { recursive: true }).some(path => isPlanted(String(path), directory)))
      throw new Error(`${what}: a file was planted in ${directory}: ${answer.text.slice(0, 200)}`);
    if (!existsSync(join(home, directory))) throw new Error(`${what}: ${directory} was moved away`);
  };
  for (const tool of dialect.tools) {
    if (tool.effect === "runs" && "command" in tool.input.properties) {
      for (const command of commandsAt(directory))
        await tally.attempt(`A170 (a command at ${directory}) ${dialect.name} ${tool.name}`, async () =>
          check(command, await call(client, tool.name, { command })),
        );
    }
    if (tool.effect !== "writes") continue;
    for (const given of argumentsAt(tool, home, directory))
      await tally.attempt(`A170 (a change at ${directory}) ${dialect.name} ${tool.name}`, async () =>
        check(JSON.stringify(given), await call(client, tool.name, given)),
      );
  }
}

/** A file of ours under a name that the program would read, wherever the directory is now. */
function isPlanted(path: string, directory: string): boolean {
  const name = directory.split("/").at(-1) ?? "";
  return path.endsWith(planted) && path.includes("/") && path.split("/").includes(name);
}

function commandsAt(directory: string): string[] {
  const top = directory.split("/")[0] ?? "";
  return [
    `mkdir -p ${directory}; cp ${planted} ${directory}/`,
    `mv ${top} ${top}2; mkdir -p ${directory}; cp ${planted} ${directory}/`,
    `mv ${directory} elsewhere; mkdir ${directory}; cp ${planted} ${directory}/`,
    `rm -rf ${directory}; mkdir -p ${directory}; cp ${planted} ${directory}/`,
  ];
}

/** Changes that create something there, or move a directory above it. */
function argumentsAt(tool: Tool, home: string, directory: string): Record<string, unknown>[] {
  const spelling = { file: "pub.txt", fresh: "fresh.txt", directory: "." };
  const top = directory.split("/")[0] ?? "";
  const there = [directory, top].flatMap(path => [path, join(home, path)]);
  const below = [`${directory}/${planted}`, join(home, directory, planted)];
  return (tool.paths ?? []).flatMap(name => {
    const schema = tool.input.properties[name];
    const isList = schema?.type === "array";
    return [...there, ...below].map(path => {
      const other = "from" in tool.input.properties && name === "to" ? { from: planted } : {};
      return sample(tool, spelling, { ...other, [name]: isList ? [path] : path });
    });
  });
}
