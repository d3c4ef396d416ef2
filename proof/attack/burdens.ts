// Trees that are hard to handle: endless files, endless lines, endless directories. Every tool that reads answers
// within its limits, and the server's memory stays bounded.
import { execFileSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Trial } from "../suite.ts";
import { sample } from "./sample.ts";
import { overStdio } from "./target.ts";

interface Burden {
  readonly id: string;
  readonly story: string;
  readonly name: string;
  /** Creates it; returns a reason if that is impossible. */
  lay(path: string, long: boolean): string | undefined | Promise<string | undefined>;
}

const burdens: readonly Burden[] = [
  { id: "A087", story: "a socket", name: "socket", lay: path => socketAt(path) },
  { id: "A088", story: "a device", name: "zero", lay: path => device(path, "c 1 5") },
  { id: "A090", story: "a file of 8 GiB", name: "sparse", lay: path => sparse(path, 8 * 2 ** 30) },
  { id: "A091", story: "one long line", name: "line", lay: (path, long) => filled(path, long ? 300 : 20) },
  { id: "A093", story: "many entries", name: "many", lay: (path, long) => many(path, long ? 50_000 : 5_000) },
  { id: "A094", story: "a deep tree", name: "deep", lay: (path, long) => deep(path, long ? 1_500 : 600) },
];

/** More than any answer may hold (one contract promises whole files, up to 64 MiB), and than the server may grow by. */
const maxAnswer = 100_000_000;
const maxGrowth = 500_000; // KB

export async function attackByBurdens(dialect: Dialect, { tally, long }: Trial): Promise<void> {
  for (const { id, story, name, lay } of burdens.filter(({ id }) => tally.wants(id))) {
    await using target = await overStdio(dialect);
    const { root } = target.arena;
    const reason = await lay(join(root, name), long);
    if (reason !== undefined) {
      tally.skipped(id, reason);
      continue;
    }
    const before = resident(target.wire.child.pid);
    for (const tool of dialect.tools.filter(({ effect }) => effect === "reads")) {
      for (const [where, path] of Object.entries({ it: name, "what is around it": "." })) {
        const [first] = tool.paths ?? [];
        if (first === undefined) continue;
        // A search of 8 GiB takes long, and the caller can cancel it.
        if (id === "A090" && /grep|search/.test(tool.name)) continue;
        const spelled = dialect.name === "fs" ? path : join(root, path);
        const value = tool.input.properties[first]?.type === "array" ? [spelled] : spelled;
        const recursive = "recursive" in tool.input.properties ? { recursive: true } : {};
        await tally.attempt(`${id} (${story}) ${dialect.name} ${tool.name} ${where}`, async () => {
          const answer = await target.call(tool.name, {
            ...sample(tool, target.spelling, { [first]: value }),
            ...recursive,
          });
          target.observe(answer);
          const { length } = JSON.stringify(answer);
          if (length > maxAnswer) throw new Error(`an answer of ${length} characters`);
          await target.request("ping");
          if (tool.name === "set_workspace") await target.prepare();
          const growth = resident(target.wire.child.pid) - before;
          if (growth > maxGrowth) throw new Error(`the server has grown by ${growth} KB`);
        });
      }
    }
    execFileSync("rm", ["-rf", join(root, name)]); // deeper than Node's own goes
  }
}

function resident(pid: number | undefined): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

async function socketAt(path: string): Promise<undefined> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(path, resolve));
  server.unref();
  process.once("exit", () => rmSync(path, { force: true }));
  return undefined;
}

function device(path: string, numbers: string): string | undefined {
  try {
    execFileSync("mknod", [path, ...numbers.split(" ")], { stdio: "ignore" });
    return undefined;
  } catch {
    return "needs permission to make devices";
  }
}

function sparse(path: string, bytes: number): undefined {
  writeFileSync(path, "");
  truncateSync(path, bytes);
}

function filled(path: string, megabytes: number): undefined {
  const file = openSync(path, "w");
  const piece = Buffer.alloc(1_000_000, "z");
  for (let i = 0; i < megabytes; i++) writeSync(file, piece);
  closeSync(file);
}

function many(path: string, count: number): undefined {
  mkdirSync(path);
  for (let i = 0; i < count; i++) writeFileSync(join(path, `entry-${i}`), "");
}

/** Beyond what one path can name, so it is made from within. */
function deep(path: string, depth: number): undefined {
  mkdirSync(path);
  execFileSync(
    "sh",
    ["-c", `i=0; while [ $i -lt ${depth} ]; do mkdir d && cd d || exit 1; i=$((i+1)); done`],
    { cwd: path, stdio: "ignore" },
  );
}
