// Another user of the machine, who may write in the root, mounts what is outside over the root in a mount namespace of
// their own, and plants links that lead there through /proc. To the server, the paths behind them look like paths in
// its root. And a root that is deleted: the kernel then calls it by a name that another directory may have.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Trial } from "../suite.ts";
import { Arena } from "./arena.ts";
import { carriersOf } from "./carriers.ts";
import { overStdio } from "./target.ts";

/** Ways through /proc to a directory of another process. */
const ways: Readonly<Record<string, (pid: number, root: string) => string>> = {
  root: (pid, root) => `/proc/${pid}/root${root}`,
  "root of a task": (pid, root) => `/proc/${pid}/task/${pid}/root${root}`,
  cwd: pid => `/proc/${pid}/cwd`,
  handle: pid => `/proc/${pid}/fd/7`,
};

interface Shape {
  readonly story: string;
  /** The links to plant, by name in the root: where each leads, given a way to the mounted directory. */
  readonly links: (way: string) => Readonly<Record<string, string>>;
  readonly path: string;
}

const shapes: readonly Shape[] = [
  { story: "a file", links: way => ({ bait: `${way}/secret.txt` }), path: "bait" },
  { story: "a new file", links: way => ({ bait: `${way}/new.txt` }), path: "bait" },
  { story: "a directory", links: way => ({ bait: way }), path: "bait" },
  { story: "below a directory", links: way => ({ bait: way }), path: "bait/sub/secret.txt" },
  { story: "new below a directory", links: way => ({ bait: way }), path: "bait/sub/new.txt" },
  { story: "a link to a link", links: way => ({ bait: "second", second: way }), path: "bait/secret.txt" },
  // The path in the other namespace is exactly the requested path.
  { story: "its own name", links: way => ({ sub: `${way}/sub` }), path: "sub/secret.txt" },
  { story: "its own name, deep", links: way => ({ sub: `${way}/sub` }), path: "sub/x/y/z/secret.txt" },
];

export async function attackFromOtherNamespaces(dialect: Dialect, { tally, long, chance }: Trial) {
  // One contract serves a single directory.
  if (tally.wants("A301") && dialect.name !== "fs") await attackADeletedRoot(dialect, tally);
  if (!tally.wants("A300")) return;
  const arena = new Arena();
  const deep = join(arena.outside, "sub/x/y/z");
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, "secret.txt"), `${arena.secret}\n`);
  for (const place of [arena.base, arena.outside]) chmodSync(place, 0o755);
  chmodSync(arena.root, 0o777);
  const stranger = await mountOver(arena);
  if (stranger === undefined) {
    tally.skipped("A300", "mount namespaces are not permitted here");
    arena[Symbol.dispose]();
    return;
  }
  try {
    await using target = await overStdio(dialect, [], arena);
    for (const tool of dialect.tools) {
      const carriers = carriersOf(tool, target.spelling).filter(
        one => one.decides && !one.name.includes(", "),
      );
      for (const carrier of carriers)
        for (const shape of shapes)
          for (const [name, way] of Object.entries(ways)) {
            if (!long && chance.next() > 0.3) continue;
            const story = `A300 (${shape.story}, by ${name}) ${dialect.name} ${tool.name} ${carrier.name}`;
            await tally.attempt(story, async () => {
              plant(arena.root, shape.links(way(stranger.pid ?? 0, arena.root)));
              const path = dialect.name === "fs" ? shape.path : join(arena.root, shape.path);
              await target.inspect(await target.call(tool.name, carrier.args(path)));
              if (tool.name === "set_workspace") await target.prepare();
            });
          }
    }
  } finally {
    stranger.kill("SIGKILL");
  }
}

function plant(root: string, links: Readonly<Record<string, string>>): void {
  for (const [name, target] of Object.entries(links)) {
    rmSync(join(root, name), { recursive: true, force: true });
    symlinkSync(target, join(root, name));
  }
}

/** A process in whose mount namespace the root is the directory outside. Undefined if that is not permitted. */
async function mountOver({ outside, root }: Arena): Promise<ChildProcess | undefined> {
  const script = 'mount --bind "$1" "$2" && cd "$2" && exec 7<. && echo mounted && exec sleep 3600';
  const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn("unshare", ["-Urm", "sh", "-c", script, "-", outside, root], {
    cwd: "/",
    stdio: ["ignore", "pipe", "ignore"],
    ...unprivileged,
  });
  return await new Promise(resolve => {
    child.once("error", () => resolve(undefined));
    child.once("exit", () => resolve(undefined));
    createInterface(child.stdout).once("line", () => resolve(child));
  });
}

/** The server has two roots; one is deleted, and a link in the other leads to a directory of the name it has now. */
async function attackADeletedRoot(dialect: Dialect, tally: Trial["tally"]): Promise<void> {
  const arena = new Arena();
  const gone = join(arena.base, "gone");
  mkdirSync(gone);
  await using target = await overStdio(dialect, ["--allow-write", gone], arena);
  rmdirSync(gone);
  const namesake = `${gone} (deleted)`;
  mkdirSync(namesake);
  writeFileSync(join(namesake, "secret.txt"), `${arena.secret}\n`);
  for (const tool of dialect.tools.filter(({ name }) => name !== "set_workspace")) {
    for (const carrier of carriersOf(tool, target.spelling).filter(one => one.decides)) {
      await tally.attempt(`A301 (a deleted root) ${dialect.name} ${tool.name} ${carrier.name}`, async () => {
        plant(arena.root, { bait: namesake });
        await target.inspect(await target.call(tool.name, carrier.args(join(arena.root, "bait/secret.txt"))));
        const names = readdirSync(namesake);
        if (names.join() !== "secret.txt") throw new Error(`changed outside: ${names.join(", ")}`);
      });
    }
  }
}
