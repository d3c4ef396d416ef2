// The state directory is damaged, full, read-only, or from another version: files are still served, the tree does not
// change, and a write is done or refused, as the answer says.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { end, ServerUnderTest, told } from "./server-under-test.ts";

type Damage = (file: string, chance: Chance) => void;

const damages: Readonly<Record<string, Damage>> = {
  "random bytes": (file, chance) =>
    writeFileSync(file, chance.bytes(Math.max(1, Math.min(lstatSync(file).size, 4096)))),
  "one bit": (file, chance) => {
    const bytes = readFileSync(file);
    if (bytes.length === 0) return;
    const at = chance.below(Math.min(bytes.length, 2000));
    bytes[at] = (bytes[at] ?? 0) ^ (1 << chance.below(8));
    writeFileSync(file, bytes);
  },
  "cut short": (file, chance) => truncateSync(file, chance.below(lstatSync(file).size + 1)),
  emptied: file => truncateSync(file, 0),
  zeros: file => writeFileSync(file, Buffer.alloc(lstatSync(file).size)),
  gone: file => rmSync(file),
  "a directory instead": file => {
    rmSync(file);
    mkdirSync(file);
  },
  "of a newer version": file => {
    const text = readFileSync(file, "latin1");
    writeFileSync(
      file,
      text.startsWith("{") ? text.replace("{", '{"version":99,"unheard":[{}],') : `PF99${text}`,
      "latin1",
    );
  },
};

/** A tree with some history, and a state that a killed server has left. */
async function used(): Promise<ServerUnderTest> {
  const server = new ServerUnderTest({ a: "0", b: "0", "d/c": "0" });
  const wire = await server.serve();
  for (const content of ["1", "2"])
    for (const path of ["a", "b", "d/c"]) await told(wire, "write_file", { path, content });
  await told(wire, "delete_path", { path: "b" });
  await end(wire);
  return server;
}

export async function damageState({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R120")) return;
  await using server = await used();
  const [before, kept] = [server.tree(), join(server.base, "kept")];
  // Liveness sockets cannot be copied, and their processes are gone.
  cpSync(server.state, kept, { recursive: true, filter: path => !lstatSync(path).isSocket() });
  const files = readdirSync(kept, { recursive: true, encoding: "utf8" }).filter(name =>
    lstatSync(join(kept, name)).isFile(),
  );
  const cases = files.flatMap(file =>
    Object.entries(damages).map(([story, damage]) => ({ file, story, damage })),
  );
  // Files of one folder are alike: the short form damages one of them in each way.
  const kinds = new Map(chance.shuffled(cases).map(one => [`${one.file.split("/")[0]} ${one.story}`, one]));
  for (const { file, story, damage } of long ? cases : kinds.values()) {
    await tally.attempt(`R120 (state: ${file} is ${story})`, async () => {
      rmSync(server.state, { recursive: true, force: true });
      cpSync(kept, server.state, { recursive: true });
      damage(join(server.state, file), chance);
      await survives(server, before);
    });
  }
}

/** Serves files, changes nothing on its own, and its answers are true. */
async function survives(server: ServerUnderTest, before: Readonly<Record<string, string>>): Promise<void> {
  const wire = await server.serve();
  if (!(await told(wire, "read_file", { path: "a" })).includes("2")) throw new Error("a cannot be read");
  unchanged(server, before);
  await told(wire, "list_changes", {});
  unchanged(server, before);
  try {
    await told(wire, "write_file", { path: "new", content: "x" });
    unchanged(server, { ...before, new: "x" });
    await told(wire, "undo", {});
  } catch (error) {
    if (/internal/i.test(String(error))) throw error;
  }
  rmSync(join(server.root, "new"), { force: true });
  unchanged(server, before);
  await end(wire);
}

function unchanged(server: ServerUnderTest, before: Readonly<Record<string, string>>): void {
  const text = (tree: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(tree).sort());
  if (text(server.tree()) !== text(before))
    throw new Error(`the tree is ${text(server.tree())}, not ${text(before)}`);
}

export async function fillState({ tally }: Trial): Promise<void> {
  for (const [id, story, prevent] of [
    ["R121", "without room", fill],
    ["R122", "read-only", close],
  ] as const) {
    if (!tally.wants(id)) continue;
    await using server = new ServerUnderTest({ a: "old" });
    mkdirSync(server.state);
    const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", server.state]);
    if (mount.status !== 0) {
      tally.skipped(id, "needs permission to mount");
      continue;
    }
    try {
      await tally.attempt(`${id} (a state directory ${story})`, async () => {
        const allow = prevent(server.state);
        const wire = await server.serve();
        if (!(await told(wire, "read_file", { path: "a" })).includes("old"))
          throw new Error("a cannot be read");
        const write = () => told(wire, "write_file", { path: "a", content: "new" });
        const refusal = await write().then(() => "accepted", String);
        if (/accepted|internal/i.test(refusal)) throw new Error(refusal);
        unchanged(server, { a: "old" });
        allow();
        await write();
        unchanged(server, { a: "new" });
        server.orderly();
        await end(wire);
      });
    } finally {
      spawnSync("umount", ["-l", server.state]);
    }
  }
}

function fill(state: string): () => void {
  const ballast = join(state, "ballast");
  writeFileSync(ballast, "");
  const { bavail, bsize } = statfsSync(state);
  writeFileSync(ballast, Buffer.alloc(Number(bavail) * Number(bsize) - 8192));
  return () => rmSync(ballast);
}

function close(state: string): () => void {
  const remount = (how: string) => spawnSync("mount", ["-o", `remount,${how}`, state]);
  remount("ro");
  return () => remount("rw");
}
