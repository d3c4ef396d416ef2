// What must hold at the end: every acknowledged edit is there, every file is intact and in its place, there are no
// stray files, the history can be read from end to end, and the last changes can be undone.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { call } from "../client/client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import { blobName, blobs, isTorn } from "./blobs.ts";
import { ledgerName, ledgers, type Slot } from "./ledger.ts";
import type { Place } from "./soak-client.ts";

export async function inspect(
  { root, state, meter }: Place,
  slots: readonly Slot[],
  clients: number,
): Promise<number> {
  const client = await StdioClient.start({ dialect: "polyfs", root, state });
  // An interrupted commit is finished or rolled back before a server touches its tree.
  await call(client, "write_file", { path: "own/end.txt", content: "end\n" });
  for (const slot of slots) {
    const complaint = slot.complaint();
    if (complaint !== undefined) meter.violation("lost edit", complaint);
  }
  for (let i = 0; i < blobs; i++) if (isTorn(root, blobName(i))) meter.violation("torn file", blobName(i));
  strays(root, meter, clients);
  const changes = await history(client, meter);
  await takeBack(client, root, meter);
  await client.close();
  return changes;
}

function strays(root: string, meter: Place["meter"], clients: number): void {
  const expected = new Set([
    ...Array.from({ length: ledgers }, (_, i) => ledgerName(i)),
    ...Array.from({ length: blobs }, (_, i) => blobName(i)),
    ...Array.from({ length: clients }, (_, i) => `own/c${i}.txt`),
    "own/end.txt",
  ]);
  const there = new Set<string>();
  for (const directory of readdirSync(root))
    for (const name of readdirSync(join(root, directory))) there.add(`${directory}/${name}`);
  for (let i = 0; i < clients; i++) {
    const homes = [0, 1].filter(home => there.delete(`home${home}/c${i}.txt`));
    if (homes.length !== 1) meter.violation("lost file", `c${i}.txt is in ${homes.length} places`);
  }
  for (const name of there) if (!expected.has(name)) meter.violation("stray file", name);
}

/** Reads all of it, page by page, and returns how many changes there are. */
async function history(client: StdioClient, meter: Place["meter"]): Promise<number> {
  const seen = new Set<string>();
  for (let before: string | undefined; ; ) {
    const { text, failed } = await call(client, "list_changes", { limit: 500, ...(before && { before }) });
    if (failed) meter.violation("history", text);
    const ids = [...text.matchAll(/^(\w+) · \d{4}-/gm)].map(([, id = ""]) => id);
    for (const id of ids) {
      if (seen.has(id)) meter.violation("history", `${id} is listed twice`);
      seen.add(id);
    }
    const [, next] = /\[there are more: before=(\w+)\]/.exec(text) ?? [];
    if (failed || next === undefined || next === before) return seen.size;
    before = next;
  }
}

/** Changes made now are undone in reverse, and restore the tree. */
async function takeBack(client: StdioClient, root: string, meter: Place["meter"]): Promise<void> {
  const path = ledgerName(0);
  const before = readFileSync(join(root, path), "latin1");
  const rounds = 5;
  for (let i = 0; i < rounds; i++)
    await call(client, "edit_file", { path, edits: [{ insert_after: i, new: `end ${i}` }] });
  const listed = await call(client, "list_changes", { path, limit: rounds });
  for (const [, id = ""] of listed.text.matchAll(/^(\w+) · \d{4}-/gm)) {
    const { text, failed } = await call(client, "undo", { change: id });
    if (failed) meter.violation("history", text);
  }
  if (readFileSync(join(root, path), "latin1") !== before)
    meter.violation("history", `${path} does not have its old content after changes were undone`);
}
