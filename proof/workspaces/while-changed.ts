// A fork that another server edits, moves and deletes in while it is merged again and again. A merge is refused only if
// the fork changes too fast; none takes a file from the base whose new path it does not bring, or brings a new path and
// leaves the old one, or takes a part of a change of several files; and the last one makes both trees the same.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../src/engine/fault.ts";
import { Fixture, treeOf } from "../../test/workspaces/fixture.ts";
import { call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import type { Trial } from "../suite.ts";

const files = 40;
const mergesOfOne = 12;
/** Files that each change changes together. */
const pairs = Array.from({ length: 12 }, (_, n) => `pair/${n % 2 === 0 ? "a" : "z"}/p${n}.txt`);

export async function whileChanged({ chance, tally }: Trial, times: number): Promise<void> {
  for (let i = 0; i < times; i++) {
    const method = ([undefined, "link", "copy"] as const)[chance.below(3)];
    await tally.attempt(`changed ${i} (${method ?? "the machine's method"})`, async () => {
      using fixture = new Fixture(method);
      const names = Array.from({ length: files }, (_, n) => `f${n}.txt`);
      const { base, fork } = await fixture.forked(
        Object.fromEntries([
          ...names.map((name, n) => [name, `file ${n} has a line\n`.repeat(10)]),
          ...pairs.map(name => [name, "made 0\n"]),
        ]),
      );
      const state = join(fixture.path, "state");
      const client = await StdioClient.start({ dialect: "polyfs", root: fork.root, state });
      let isOver = false;
      const changing = (async () => {
        for (let made = 0; !isOver; made++) {
          const answer = await change(client, names, chance.below(files), made);
          if (answer.failed) throw new Error(answer.text);
          // Some merges should find the fork at rest for as long as they need.
          if (made % 8 === 0) await new Promise(resolve => setTimeout(resolve, chance.below(200)));
        }
      })();
      try {
        for (let n = 0; n < mergesOfOne; n++) {
          await Promise.race([changing, fixture.workspaces.merge(fork, fixture.opener).catch(unlessTooFast)]);
          everyFileIsIn(base);
          changedTogether(base);
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
  if (made % 2 === 1)
    return await call(client, "replace_in_files", {
      paths: ["pair"],
      old: "made \\d+",
      match: "regex",
      new: `made ${made}`,
    });
  const path = names[n] ?? "";
  const kind = (made / 2) % 6;
  if (kind === 0) return await call(client, "write_file", { path: "new.txt", content: `${made}\n` });
  if (kind === 1) return await call(client, "delete_path", { path: "new.txt" });
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

function changedTogether(base: string): void {
  const states = new Set(pairs.map(path => readFileSync(join(base, path), "utf8").trim()));
  if (states.size > 1) throw new Error(`the base has parts of changes: ${[...states].join(", ")}`);
}

function everyFileIsIn(base: string): void {
  const all = Object.keys(treeOf(base)).map(path => readFileSync(join(base, path), "utf8").split("\n")[0]);
  for (let n = 0; n < files; n++) {
    const copies = all.filter(first => first === `file ${n} has a line`).length;
    if (copies !== 1) throw new Error(`the base has file ${n} ${copies} times`);
  }
}
