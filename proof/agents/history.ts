// What the history says, as the tokens that each change brought, and which tokens the tree holds.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listedIn, type Snapshot } from "../../src/engine/workspace/archive/snapshot.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

export interface Entry {
  readonly id: string;
  readonly action: string;
  readonly by: string;
  readonly uncertain: boolean;
  readonly tokens: ReadonlySet<string>;
}

export async function readHistory(root: string, state: string): Promise<Entry[]> {
  using workspace = Workspace.open([{ path: root, access: "read-write" }], { state });
  await workspace.othersRecorded();
  const { changes, objects } = workspace.archive;
  const tokensOf = (snapshot: Snapshot | undefined): string[] => {
    if (snapshot?.kind === "directory") return (listedIn(snapshot, objects) ?? []).flatMap(tokensOf);
    if (snapshot?.kind !== "file" || snapshot.hash === undefined) return [];
    return tokensIn(String(objects.get(snapshot.hash)));
  };
  return [...changes.newest()].map(({ id, action, client, uncertain = false, files }) => {
    const tokens = files.flatMap(({ before, after }) => {
      const old = new Set(tokensOf(before));
      return tokensOf(after).filter(token => !old.has(token));
    });
    return { id, action, by: client.split("/")[0] ?? "", uncertain, tokens: new Set(tokens) };
  });
}

export function tokensOnDisk(root: string): Set<string> {
  const entries = readdirSync(root, { withFileTypes: true, recursive: true });
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return new Set(files.flatMap(path => tokensIn(readFileSync(path, "utf8"))));
}

function tokensIn(text: string): string[] {
  return [...text.matchAll(/<[\w.]+>/g)].map(([token]) => token);
}
