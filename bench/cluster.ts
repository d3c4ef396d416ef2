// What a shared store costs: `node bench/run.mjs cluster [latency] [failover] [files] [--calls N] [--kills N] [--files N]`.
// A PostgreSQL of its own on loopback, with its default durability.
//
//   latency    the same calls on a server without a store and on a replica, in turns: one run, side by side
//   failover   three replicas behind a load balancer, one killed with -9: how long a client goes without an answer
//   files      a workspace of 100,000 files and 2 GB on a new replica: the first read, and the whole
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Balancer } from "../proof/cluster/balancer.ts";
import { startPostgres } from "../test/store/postgres-server.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const option = (name: string, otherwise: number) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const parts = process.argv.slice(2).filter(word => /^(latency|failover|files)$/.test(word));
const wants = (part: string) => parts.length === 0 || parts.includes(part);
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-bench-cluster-")));
const database = await startPostgres();
if (database === undefined) throw new Error("PostgreSQL is not installed");
const { url: store } = database;
const say = (line: string) => console.log(line);

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
};
const agent = new Agent({ keepAlive: true });

/** Milliseconds that a call took. Rejects where it failed, or was not answered. */
async function call(url: string, tool: string, args: object): Promise<number> {
  const body = JSON.stringify({
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: tool, arguments: args, _meta: meta },
  });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": tool,
    "content-length": String(Buffer.byteLength(body)),
  };
  const began = performance.now();
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${url}/mcp`, { method: "POST", headers, agent, timeout: 60_000 }, answer => {
      const chunks: Buffer[] = [];
      answer.on("data", chunk => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("no answer")));
    sent.end(body);
  });
  if (!text.includes('"result"') || text.includes('"isError":true')) throw new Error(text.slice(0, 300));
  return performance.now() - began;
}

interface Server extends AsyncDisposable {
  readonly url: string;
  /** What it logs, line by line. */
  said(): string;
  kill(): Promise<void>;
}

const servers = new Set<Server>();

async function start(name: string, ...args: readonly string[]): Promise<Server> {
  const root = join(scratch, name);
  mkdirSync(root, { recursive: true });
  const line = ["--http", "0", "--stateless", "--log-level", "info"];
  const child = spawn(process.execPath, [program, ...line, ...args, root], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, POLYFS_STATE_DIR: join(scratch, `state-${name}`) },
  });
  let said = "";
  const ended = new Promise<void>(resolve => child.once("close", () => resolve()));
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-20_000);
      const [found] = /http:\/\/[^/\s]+(?=\/mcp)/.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    void ended.then(() => reject(new Error(said)));
  });
  const server: Server = { url, kill, said: () => said, [Symbol.asyncDispose]: kill };
  servers.add(server);
  return server;
}

function replica(name: string, workspace: string): Promise<Server> {
  return start(name, "--store", store, "--store-workspace", workspace);
}

function fill(name: string, files: number, bytes: number): void {
  for (let i = 0; i < files; i++) {
    const directory = join(scratch, name, `d${i % 500}`);
    mkdirSync(directory, { recursive: true });
    const line = `  const value = compute(table, "text that is the same in every file");\n`;
    const text = `// file ${i}\n${line.repeat(Math.ceil(bytes / line.length))}`;
    writeFileSync(join(directory, `f${i}.ts`), text.slice(0, bytes));
  }
}

const at = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0;
const shown = (times: readonly number[]) =>
  `${at(times, 0.5).toFixed(2).padStart(8)} ${at(times, 0.95).toFixed(2).padStart(8)}`;

async function latency(): Promise<void> {
  const calls = option("calls", 600);
  for (const name of ["plain", "replica"]) fill(name, 1000, 4000);
  const plain = await start("plain");
  const shared = await replica("replica", "latency");
  const other = await replica("other", "latency");
  const contenders = { "without a store": plain, replica: shared } as const;
  const times: Record<string, Record<keyof typeof contenders, number[]>> = {};
  const read = (i: number) => ["read_file", { path: `d${i % 500}/f${i % 500}.ts` }] as const;
  const edit = (i: number) => {
    const edits = [{ old: `// file ${i}\n`, new: `// edited file ${i}\n` }];
    return ["edit_file", { path: `d${i % 500}/f${i}.ts`, edits }] as const;
  };
  const write = (i: number) =>
    ["write_file", { path: `new/n${i}.txt`, content: `new file ${i}\n`.repeat(40) }] as const;
  for (const [what, make] of Object.entries({ read_file: read, edit_file: edit, write_file: write })) {
    const own = { "without a store": [] as number[], replica: [] as number[] };
    times[what] = own;
    for (let i = 0; i < calls; i++)
      for (const name of i % 2 === 0
        ? (["without a store", "replica"] as const)
        : (["replica", "without a store"] as const)) {
        // An agent does not call again within the same millisecond.
        await pause(3);
        const [tool, args] = make(i);
        const ms = await call(contenders[name].url, tool, args).catch((error: Error) => {
          if (!error.message.includes("isError")) throw error;
          throw new Error(`${tool} ${JSON.stringify(args)} on ${name}: ${error.message}`);
        });
        if (i >= 50) own[name].push(ms);
      }
  }
  say(`\nlatency: ${calls - 50} calls of each kind after 50 to warm up, in turns; milliseconds`);
  say("                      without a store          replica          difference");
  say("                       median      95%     median      95%     median      95%");
  for (const [what, own] of Object.entries(times)) {
    const [base, here] = [own["without a store"], own.replica];
    const apart = [0.5, 0.95].map(share => (at(here, share) - at(base, share)).toFixed(2).padStart(8));
    say(`${what.padEnd(20)} ${shown(base)}   ${shown(here)}   ${apart.join(" ")}`);
  }
  const arriving: number[] = [];
  for (let i = 0; i < 100; i++) {
    await call(shared.url, "write_file", { path: "arriving.txt", content: `${i}\n` });
    arriving.push(await call(other.url, "read_file", { path: "arriving.txt" }));
  }
  say(`${"read_file elsewhere, at once after a write".padEnd(46)}${shown(arriving)}`);
  const flushes = flushMs(200);
  say(`${"a 4 KB write and fdatasync on this disk".padEnd(46)}${shown(flushes)}`);
}

function flushMs(count: number): number[] {
  const { openSync, writeSync, fdatasyncSync, closeSync } = process.getBuiltinModule("node:fs");
  const file = openSync(join(scratch, "flushed"), "w");
  const bytes = Buffer.alloc(4096, "x");
  const times = Array.from({ length: count }, (_, i) => {
    const began = performance.now();
    writeSync(file, bytes, 0, bytes.length, i * 4096);
    fdatasyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return times;
}

async function failover(): Promise<void> {
  const kills = option("kills", 10);
  fill("r0", 200, 4000);
  const names = ["r0", "r1", "r2"];
  const running: Server[] = [];
  for (const name of names) running.push(await replica(name, "failover"));
  await using balancer = new Balancer(() => running.map(({ url }) => url));
  const url = await balancer.listen();
  let over = false;
  let failed = 0;
  let answered = 0;
  /** For each client, when its last answer came, and the longest time without one since the last kill. */
  const clients = Array.from({ length: 8 }, () => ({ last: performance.now(), gap: 0 }));
  const working = clients.map(async (client, i) => {
    for (let n = 0; !over; n++) {
      try {
        const own = { path: `own${i}.txt`, content: `${n}\n` };
        if (n % 3 === 0) await call(url, "write_file", own);
        else await call(url, "read_file", { path: "d0/f0.ts" });
        answered++;
        const now = performance.now();
        client.gap = Math.max(client.gap, now - client.last);
        client.last = now;
      } catch {
        failed++;
        await pause(20);
      }
    }
  });
  await pause(3000);
  const before = Math.max(...clients.map(({ gap }) => gap));
  const gaps: number[] = [];
  for (let i = 0; i < kills; i++) {
    for (const client of clients) client.gap = 0;
    const victim = i % 3;
    await running[victim]?.kill();
    await pause(2500);
    gaps.push(Math.max(...clients.map(({ gap, last }) => Math.max(gap, performance.now() - last))));
    running[victim] = await replica(names[victim] ?? "", "failover");
    await pause(1000);
  }
  over = true;
  await Promise.all(working);
  say(`\nfailover: ${kills} times kill -9 of one of three replicas, 8 clients through a load balancer`);
  say(`${answered} calls answered, ${failed} not; the longest time that any client went without an answer:`);
  say(`before a kill ${before.toFixed(0)} ms; after a kill ${gaps.map(ms => ms.toFixed(0)).join(" ")} ms`);
}

async function files(): Promise<void> {
  const count = option("files", 100_000);
  const bytes = 20_971;
  fill("many", count, bytes);
  say(`\nfiles: ${count}, ${((count * bytes) / 1e9).toFixed(2)} GB, compressible text`);
  let began = performance.now();
  await replica("many", "files");
  say(`published by the first replica in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  began = performance.now();
  const second = await replica("fetched", "files");
  say(`a new replica answers after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  await call(second.url, "read_file", { path: `d${(count - 1) % 500}/f${count - 1}.ts` });
  say(`its first read is answered after ${((performance.now() - began) / 1000).toFixed(1)} s`);
  const log = () => /fetched \d+ files.*/.exec(second.said())?.[0];
  while (log() === undefined) await pause(200);
  say(`${log()}: ${((performance.now() - began) / 1000).toFixed(1)} s after its start`);
}

try {
  await migrated();
  say(`load ${loadavg()[0]?.toFixed(1)}; PostgreSQL on loopback, fsync on; ${process.arch}`);
  if (wants("latency")) await latency();
  if (wants("failover")) await failover();
  if (wants("files")) await files();
  say(`\nload at the end ${loadavg()[0]?.toFixed(1)}`);
} finally {
  for (const server of servers) await server.kill();
  await database[Symbol.asyncDispose]();
  rmSync(scratch, { recursive: true, force: true });
  agent.destroy();
}

async function migrated(): Promise<void> {
  const env = { ...process.env, POLYFS_STORE: store };
  const child = spawn(process.execPath, [program, "store", "migrate"], { env, stdio: "ignore" });
  await new Promise(resolve => child.once("close", resolve));
}
