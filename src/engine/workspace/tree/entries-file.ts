// The entries of a tree as a file: one array per entry, directories with their children. BigInts are written as text,
// since JSON has no integers of 64 bits.
import type { Kind } from "../../fault.ts";
import type { TreeEntry } from "../footprint/tree-snapshot.ts";
import type { TreeEntries } from "./clone-tree.ts";

type Row = readonly [
  name: string,
  kind: Kind,
  mode: number,
  size: number,
  inode: string,
  device: string,
  modified: string,
  changed: string,
  more?: string | readonly Row[],
];

export function printEntries(entries: TreeEntries): string {
  return JSON.stringify(rows(entries));
}

export function parseEntries(text: string): TreeEntries {
  return children(JSON.parse(text) as readonly Row[]);
}

function rows(entries: TreeEntries): Row[] {
  return [...entries].map(([name, entry]) => {
    const { kind, mode, size, inode, device, modified, changed, target, children: below } = entry;
    const row = [name, kind, mode, size, `${inode}`, `${device}`, `${modified}`, `${changed}`] as const;
    const more = target ?? (below && rows(below));
    return more === undefined ? row : [...row, more];
  });
}

function children(all: readonly Row[]): TreeEntries {
  return new Map(
    all.map(([name, kind, mode, size, inode, device, modified, changed, more]): [string, TreeEntry] => [
      name,
      {
        kind,
        mode,
        size,
        inode: BigInt(inode),
        device: BigInt(device),
        modified: BigInt(modified),
        changed: BigInt(changed),
        ...(typeof more === "string" && { target: more }),
        ...(typeof more === "object" && { children: children(more) }),
      },
    ]),
  );
}
