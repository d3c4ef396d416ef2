// A fork that another server edits, moves and deletes in while it is merged again and again. A merge is refused only if
// the fork changes too fast; none takes a file from the base whose new path it does not bring, or brings a new path and
// leaves the old one; and the last one makes both trees the same.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/engine/fault.ts";
import { Fixture, treeOf } from "../../test/workspaces/fixture.ts";
import { call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";

const files = 40;
const mergesOfOne = 20;

export async function whileChanged({ chance, tally }: Trial, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const method = ([undefined, "link", "copy"] as const)[chance.below(3)];
    await tally.attempt(`changed ${i} (${method ?? "the machine's method"})`, async () => {
      using fixture = new Fixture(method);
      const names = Array.from({ length: files }, (_, n) => `f${n}.txt`);
      const { base, fork } = await fixture.forked(
        Object.fromEntries(names.map((name, n) => [name, `file ${n} has a line\n`.repeat(10)])),
      );
      const state = join(fixture.path, "state");
      const client = await StdioClient.start({ dialect: "polyfs", root: fork.root, state });
      let isOver = false;
      const changing = (async () => {
        for (let made = 0; !isOver; made++) {
          const answer = await change(client, names, chance.below(files), made);
          if (answer.failed) throw new Error(answer.text);
        }
      })();
      try {
        for (let n = 0; n < mergesOfOne; n++) {
          await Promise.race([changing, fixture.workspaces.merge(fork, fixture.opener).catch(unlessTooFast)]);
          everyFileIsIn(base);
          await new Promise(resolve => setTimeout(resolve, chance.below(60)));
        }
      } finally {
        isOver = true;
        await changing.finally(() => client.close());
      }
      await fixture.workspaces.merge(fork, fixture.opener);
      const [ours, theirs] = [fork.root, base].map(root =>
        JSON.stringify(Object.entries(treeOf(root)).sort()),
      );
      if (ours !== theirs) throw new Error(`the fork is ${ours}, the base ${theirs}`);
    });
  }
}

async function change(client: StdioClient, names: string[], n: number, made: number) {
  const path = names[n] ?? "";
  const kind = made % 6;
  if (kind === 0)
    return await call(client, "write_file", { path: `new-${made % 3}.txt`, content: `${made}\n` });
  if (kind === 1) return await call(client, "delete_path", { path: `new-${(made - 1) % 3}.txt` });
  if (kind === 2)
    return await call(client, "edit_file", {
      path,
      edits: [{ start_line: 5, end_line: 5, new: `edit ${made}` }],
    });
  // The new name sorts before the others, or after them.
  const to = `${made % 8 < 4 ? "a" : "z"}/${made}.txt`;
  names[n] = to;
  return await call(client, "move_path", { from: path, to });
}

function unlessTooFast(error: unknown): void {
  if (!Fault.is(error, "base_changing")) throw error;
}

function everyFileIsIn(base: string): void {
  const all = Object.keys(treeOf(base)).map(path => readFileSync(join(base, path), "utf8").split("\n")[0]);
  for (let n = 0; n < files; n++) {
    const copies = all.filter(first => first === `file ${n} has a line`).length;
    if (copies !== 1) throw new Error(`the base has file ${n} ${copies} times`);
  }
}
