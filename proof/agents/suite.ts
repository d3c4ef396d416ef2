// Several agents, each with a server of its own, edit files and run commands in one tree at once, while a person works
// there with an editor. Each piece of work leaves a token of its own in some file. At the end, each token must be in
// the history once, under the agent that made it, and undoing a change must remove its tokens and no others.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { changedByOthers } from "../../src/dialects/polyfs/footprint-lines.ts";
import { call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Suite, Trial } from "../suite.ts";
import { type Deed, shared, work } from "./agent.ts";
import { type Entry, readHistory, tokensOnDisk } from "./history.ts";

export const agents: Suite = {
  name: "agents",
  async run(trial) {
    const until = Date.now() + (trial.minutes ?? 0) * 60_000;
    do await round(trial, trial.long ? 10 : 4, trial.long ? 30 : 10);
    while (Date.now() < until);
  },
};

async function round(trial: Trial, count: number, steps: number): Promise<void> {
  const { chance, tally } = trial;
  const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-agents-")));
  const [root, state] = [join(base, "root"), join(base, "state")];
  for (const name of ["root", "root/editor"]) mkdirSync(join(base, name));
  for (const name of shared) writeFileSync(join(root, name), "start\n");
  const clients = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      StdioClient.start({
        dialect: "polyfs",
        root,
        state,
        client: `agent${i}`,
        args: ["--allow-run=unsandboxed"],
        patienceMs: 120_000,
      }),
    ),
  );
  const editing = { done: false };
  try {
    const editor = edit(root, trial, editing);
    const deeds = (
      await Promise.all(clients.map((client, i) => work(client, `agent${i}`, steps, chance)))
    ).flat();
    editing.done = true;
    const edited = await editor;
    const history = await readHistory(root, state);
    for (const deed of deeds)
      await tally.attempt(`AG1 ${deed.token} by ${deed.by}: ${deed.how}`, async () =>
        once(deed, history, root),
      );
    for (const token of edited)
      await tally.attempt(`AG2 ${token} by an editor`, async () => {
        const claims = history.filter(({ tokens }) => tokens.has(token));
        if (claims.length > 1 || claims.some(({ action }) => action !== "run_command"))
          throw new Error(`recorded as ${claims.map(described).join(", ")}`);
      });
    const certain = chance.shuffled(history.filter(({ uncertain }) => !uncertain));
    for (const entry of certain.slice(0, trial.long ? 60 : 12))
      await tally.attempt(`AG3 undo of ${described(entry)}`, () => undo(entry, chance.pick(clients), root));
  } finally {
    editing.done = true;
    await Promise.all(clients.map(client => client.close()));
    rmSync(base, { recursive: true, force: true });
  }
}

/** Saves files now and then, as a program outside polyfs does. */
async function edit(root: string, { chance }: Trial, state: { done: boolean }): Promise<string[]> {
  const tokens: string[] = [];
  while (!state.done) {
    const token = `<editor.${tokens.length}>`;
    writeFileSync(join(root, "editor", `e${tokens.length}`), `${token}\n`);
    tokens.push(token);
    await pause(20 + chance.below(200));
  }
  return tokens;
}

function once(deed: Deed, history: readonly Entry[], root: string): void {
  const claims = history.filter(({ tokens }) => tokens.has(deed.token));
  const told = () => `recorded as ${claims.map(described).join(", ") || "nothing"}; ${deed.said}`;
  if (claims.length > 1) throw new Error(told());
  const [claim] = claims;
  if (claim === undefined) {
    // A shell that had opened a file when it was replaced has written into the old one.
    const isGone = !tokensOnDisk(root).has(deed.token);
    const isTold = deed.said
      .split("\n")
      .some(line => line.includes(changedByOthers) && line.includes(deed.path));
    if (!(deed.how === "run_command" && (isGone || isTold))) throw new Error(told());
    return;
  }
  const isTheirs = claim.by === deed.by && claim.action === deed.how;
  if (!isTheirs && !(claim.uncertain && deed.how === "run_command")) throw new Error(told());
}

async function undo(entry: Entry, client: StdioClient, root: string): Promise<void> {
  const before = tokensOnDisk(root);
  const { text, failed } = await call(client, "undo", { change: entry.id });
  const after = tokensOnDisk(root);
  const lost = [...before].filter(token => !after.has(token));
  const foreign = lost.filter(token => failed || !entry.tokens.has(token));
  if (foreign.length > 0) throw new Error(`took away ${foreign}: ${text}`);
  const left = [...entry.tokens].filter(token => after.has(token));
  if (!failed && left.length > 0) throw new Error(`left ${left}: ${text}`);
}

function described({ id, action, by, uncertain, tokens }: Entry): string {
  return `${id} ${action} ${by}${uncertain ? " (uncertain)" : ""} ${[...tokens].join("")}`;
}
