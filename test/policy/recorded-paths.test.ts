// History reads the bytes on the disk at the paths of its records, and shows them as the rules have it there. A path may
// lead elsewhere by now: a link in the place of the file, or of a directory above it, reveals nothing of a masked file,
// and what it leads to is not changed.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { undoHunks } from "../../src/engine/history/undo-hunks.ts";
import { undoMany } from "../../src/engine/history/undo-many.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import { contentHash } from "../../src/engine/text/version.ts";
import type { ChangeRecord } from "../../src/engine/workspace/archive/log.ts";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { sideNow } from "../../src/review/sides.ts";

const secret = "one\nCANARY\nthree\n";
const file = "conf/prod.txt";

type Make = (workspace: Workspace) => readonly (readonly Change[])[];

const write = (workspace: Workspace, path: string, text: string): Change => ({
  kind: "write",
  path: workspace.at(path),
  bytes: Buffer.from(text),
});

/** What is recorded at `open/prod.txt`, one commit after the other; the last one is undone. */
const records: Readonly<Record<string, Make>> = {
  "a new file": workspace => [[write(workspace, "open/prod.txt", secret)]],
  "an edit": workspace => [
    [write(workspace, "open/prod.txt", "one\n1\nthree\n")],
    [write(workspace, "open/prod.txt", "one\n2\nthree\n")],
  ],
  "an edit elsewhere in the text": workspace => [
    [write(workspace, "open/prod.txt", "one\nCANARY\n3\n")],
    [write(workspace, "open/prod.txt", secret)],
  ],
  "a move with an edit": workspace => [
    [write(workspace, "open/old.txt", "one\n1\nthree\n")],
    [
      {
        kind: "move",
        from: workspace.at("open/old.txt"),
        to: workspace.at("open/prod.txt"),
        bytes: Buffer.from("one\n2\nthree\n"),
      },
    ],
  ],
  "a copied directory": workspace => [
    [write(workspace, "from/prod.txt", secret)],
    [{ kind: "remove", path: workspace.at("open"), recursive: true }],
    [{ kind: "copy", from: workspace.at("from"), to: workspace.at("open") }],
  ],
};

/** How the recorded path comes to lead to the masked file. */
const links: Readonly<Record<string, (root: string) => void>> = {
  "the directory": root => {
    renameSync(join(root, "open"), join(root, "away"));
    symlinkSync("conf", join(root, "open"));
  },
  "the file": root => {
    rmSync(join(root, "open/prod.txt"));
    symlinkSync(`../${file}`, join(root, "open/prod.txt"));
  },
};

type Read = (workspace: Workspace, record: ChangeRecord, root: string) => Promise<unknown>;

const reads: Readonly<Record<string, Read>> = {
  undo: (workspace, { id }) => undo(workspace, { change: id }),
  "a dry run": (workspace, { id }) => undo(workspace, { change: id, dryRun: true }),
  "undo of several": (workspace, record) => undoMany(workspace, [record], { dryRun: true }),
  "undo of a hunk": (workspace, record) => undoHunks(workspace, [record], [1], { dryRun: true }),
  "a file as it is now": (workspace, _, root) => sideNow(workspace, join(root, "open/prod.txt")),
};

/** What a caller can learn: the answer, or the fault with its data. */
async function toldBy(action: () => Promise<unknown>): Promise<string> {
  const told = await action().catch(error => {
    if (!(error instanceof Fault)) throw error;
    return { code: error.code, ...error.data };
  });
  const text = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value;
  // What JSON makes of bytes before a replacer sees them.
  const bytes = /\{"type":"Buffer","data":\[([\d,]*)\]\}/g;
  return JSON.stringify(told, text)?.replace(bytes, (_, all) => Buffer.from(all.split(",")).toString()) ?? "";
}

describe.each(Object.entries(records))("of %s", (_, make) => {
  for (const [place, link] of Object.entries(links))
    it.each(Object.entries(reads))(
      `%s shows nothing through a link in the place of ${place}`,
      async (_, read) => {
        using made = await changed(make, [new Policy([{ paths: ["conf/**"], access: "mask" }])]);
        const { root, workspace, newest } = made;
        // Another secret: what the records hold may be shown.
        const real = secret.replace("CANARY", "HIDDEN");
        writeFileSync(join(root, file), real);
        link(root);
        const told = await toldBy(() => read(workspace, newest, root));
        expect(told).not.toContain("HIDDEN");
        expect(told).not.toContain(contentHash(Buffer.from(real)).slice(0, 12));
        expect(readFileSync(join(root, file), "utf8")).toBe(real);
      },
    );
});

const undos: Readonly<Record<string, (workspace: Workspace, record: ChangeRecord) => Promise<unknown>>> = {
  undo: (workspace, { id }) => undo(workspace, { change: id }),
  "undo of several": (workspace, record) => undoMany(workspace, [record], {}),
  "undo of a hunk": (workspace, record) => undoHunks(workspace, [record], [1], {}),
};

const deletion: Make = workspace => [
  [write(workspace, "open/prod.txt", secret)],
  [{ kind: "remove", path: workspace.at("open/prod.txt") }],
];

describe.each(Object.entries({ ...records, "a deletion": deletion }))("of %s", (what, make) => {
  for (const [place, link] of Object.entries(links))
    it.each(Object.entries(undos))(
      `%s changes nothing behind a link in the place of ${place}`,
      async (_, action) => {
        using made = await changed(make, []);
        const { root, workspace, newest } = made;
        const left = join(root, "open/prod.txt");
        // The same content in another file: it is not what the change left.
        if (existsSync(left)) copyFileSync(left, join(root, file));
        else if (place === "the file") writeFileSync(left, "");
        link(root);
        const before = contentsBelow(root);
        await expect(action(workspace, newest)).rejects.toBeInstanceOf(Fault);
        expect(contentsBelow(root), what).toEqual(before);
      },
    );
});

/** A tree in which changes were made, with the record of the last one. */
async function changed(make: Make, policies: readonly Policy[]) {
  const base = mkdtempSync(join(tmpdir(), "polyfs-recorded-"));
  const root = join(base, "root");
  for (const directory of ["conf", "open"]) mkdirSync(join(root, directory), { recursive: true });
  const workspace = Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: { current: () => policies },
  });
  for (const changes of make(workspace)) await workspace.commit(changes, { parents: true });
  const [newest] = await listChanges(workspace, { limit: 1 });
  if (newest === undefined) throw new Error("nothing was recorded");
  return {
    ...{ root, workspace, newest },
    [Symbol.dispose]() {
      workspace[Symbol.dispose]();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** Contents of files and targets of links, by path. */
function contentsBelow(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) found[path] = readlinkSync(path);
    else if (entry.isFile()) found[path] = readFileSync(path, "utf8");
  }
  return found;
}
