// Whatever it receives, the server keeps running and answers each request once, with valid messages, in time and within
// limits.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dialects } from "../../src/dialects/index.ts";
import type { Suite, Trial } from "../suite.ts";
import { prepare } from "./fixture.ts";
import { http } from "./http.ts";
import { callOf, lineOf, textFor } from "./lines.ts";
import { patches } from "./patches.ts";
import { FuzzedServer } from "./server.ts";

/** Lines that are sent before answers are waited for. */
const batch = 40;
/** Files that are read at once. */
const atOnce = 8;

export const fuzz: Suite = {
  name: "fuzz",
  async run(trial) {
    const until = trial.minutes === undefined ? 0 : Date.now() + trial.minutes * 60_000;
    const size = trial.long ? 10 : 1;
    do {
      if (trial.tally.wants("patches")) await patches(trial, 3000 * size);
      await onTree(trial, size);
      if (trial.long) trial.say(`${trial.tally.tried} tried so far`);
    } while (Date.now() < until);
  },
};

async function onTree(trial: Trial, size: number): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-fuzz-")));
  const root = join(base, "root");
  const state = join(base, "state");
  mkdirSync(root);
  const files = prepare(root, trial.chance, trial.long ? 60 : 4);
  const text = textFor(trial.chance, files, root);
  try {
    for (const dialect of Object.keys(dialects)) {
      const some = trial.long ? files : trial.chance.shuffled(files).slice(0, 16);
      if (trial.tally.wants(`files ${dialect}`)) await readers(trial, dialect, root, state, some);
      if (trial.tally.wants(`lines ${dialect}`))
        await lines(trial, dialect, root, state, text, trial.long ? 20 : 1);
    }
    if (trial.tally.wants("http")) await http(trial, Object.keys(dialects), root, state, text, 20 * size);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** Every tool that reads, on every file. */
async function readers(
  { tally, chance }: Trial,
  dialect: string,
  root: string,
  state: string,
  files: readonly string[],
): Promise<void> {
  const server = await FuzzedServer.start(dialect, root, state);
  const reading = server.tools.filter(tool => tool.annotations?.readOnlyHint === true);
  for (let at = 0; at < files.length; at += atOnce) {
    const some = files.slice(at, at + atOnce);
    try {
      for (const file of some)
        for (const tool of reading) {
          const text = textFor(chance, [file], root);
          server.send(JSON.stringify(callOf(chance, tool, `${file} ${tool.name}`, text)), tool);
        }
      await server.settle();
      tally.survived(some.length * reading.length);
    } catch (error) {
      tally.failed(`files ${dialect} ${JSON.stringify(some)}`, error);
    }
    if (server.client.gone) throw new Error(`${dialect} is gone after ${some}: ${server.client.said}`);
  }
  await server.client.close();
}

/** Lines of all kinds, in batches. */
async function lines(
  { tally, chance }: Trial,
  dialect: string,
  root: string,
  state: string,
  text: (name: string) => string,
  batches: number,
): Promise<void> {
  for (let i = 0; i < batches; i++) {
    const server = await FuzzedServer.start(dialect, root, state);
    const sent: string[] = [];
    try {
      for (let j = 0; j < batch; j++) {
        if (chance.below(15) === 0) server.sendBytes(Buffer.concat([Buffer.from([0xff]), chance.bytes(60)]));
        const { line, tool } = lineOf(chance, server.tools, `l${i}-${j}`, text);
        sent.push(line);
        server.send(line, tool);
      }
      await server.settle();
      tally.survived(batch);
      await server.client.close();
      const { code } = await server.client.ended;
      if (code !== 0) throw new Error(`it ended with ${code}: ${server.client.said}`);
    } catch (error) {
      tally.failed(`lines ${dialect} ${sent.map(line => line.slice(0, 300)).join("\n")}`, error);
      server.client.kill();
    }
  }
}
