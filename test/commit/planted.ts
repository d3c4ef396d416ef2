// Journals that an attacker has put into a state directory: every kind of step, in every kind of directory, under
// every kind of name, authentic or not.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Journal } from "../../src/engine/workspace/commit/journal.ts";
import { temporaryName } from "../../src/engine/workspace/disk/temporary.ts";

/** A commit that a journal claims to hold. */
export interface Planted {
  readonly story: string;
  readonly intent: object;
  readonly inodes: readonly number[];
  readonly blob: string;
}

/** Names that are none, and lead to `victim` in the directory `to` from one beside it. */
export function namesTo(to: string, victim: string): string[] {
  return [
    `../${to}/${victim}`,
    `./../${to}/${victim}`,
    `sub/../../${to}/${victim}`,
    "..",
    ".",
    "",
    "a/b",
    "a\0b",
  ];
}

/** What a journal could do to `name` in a directory, which holds a file of that name or nothing. */
export function deedsAt(directory: string, name: string): Planted[] {
  const { dev, ino } = statSync(directory);
  const places = [{ at: directory, device: dev, inode: ino }];
  const spot = { place: 0, name };
  const temp = { place: 0, name: temporaryName() };
  const inode = statSync(join(directory, name.replace("\0", "")), { throwIfNoEntry: false })?.ino ?? 0;
  const blob = "planted";
  const after = { at: 0, length: blob.length };
  const account = { time: 1, by: { action: "", client: "" }, files: [], parents: [] };
  const deed = (what: string, step: object[], more: object = {}): Planted => ({
    story: `${what} ${JSON.stringify(name)}`,
    intent: {
      ...{ is: "intent", id: `planted${what.replace(/\W/g, "")}`, boot: "", places, steps: step },
      ...{ temps: [], trash: [], account, ...more },
    },
    inodes: step.map(() => inode),
    blob,
  });
  const staged = { blob: after };
  return [
    deed("create", [{ do: "move", given: "", from: temp, to: spot, kind: "file", staged }]),
    deed("delete", [{ do: "move", given: "", from: spot, to: temp, kind: "file", away: "tree" }], {
      trash: [temp],
    }),
    deed("rewrite", [{ do: "rewrite", given: "", at: spot, inode, before: after, after }]),
    deed("make", [{ do: "make", given: "", at: spot }]),
    deed("remove staged", [], { temps: [spot] }),
    deed("remove old", [], { trash: [spot] }),
    deed("make below", [{ do: "make", given: "", at: { place: 1, name: "made" } }], {
      places: [...places, { within: 0, name }],
    }),
    deed("keep", [], {
      account: {
        ...account,
        files: [{ at: "x", effect: "removed", kind: "file", before: { kind: "file", spot } }],
      },
    }),
  ];
}

/** Puts a folder of a dead process with that commit into a state directory. */
export function plant(state: string, { intent, inodes, blob }: Planted, key: Buffer): void {
  const folder = join(state, "processes", `1-${Math.random().toString(16).slice(2)}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "owner"), "nobody");
  const journal = new Journal(join(folder, "journal-0"), 1, key);
  journal.append(intent, [Buffer.from(blob)]);
  journal.append({ is: "commit", id: (intent as { id: string }).id, inodes });
  journal.close();
}
