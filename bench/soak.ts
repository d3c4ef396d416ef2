// One HTTP server under many clients for a while: does memory stay flat, and is every call answered? Half of the
// clients have sessions (2025-11-25), half have none (2026-07-28); each reads, searches and edits a file of its own in
// turn, and pauses in between, so that the server is busy and not flooded.
// `npm run bench:soak -- [clients] [minutes] [calls a second, of all clients]`
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HttpClient } from "./http-client.ts";
import { GeneratedTree } from "./tree.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const [clients = 500, minutes = 60, perSecond = 200] = process.argv.slice(2).map(Number);
const everyMs = 2000;

const tree = new GeneratedTree(2000);
const scratch = mkdtempSync(join(tmpdir(), "polyfs-soak-"));
mkdirSync(join(tree.path, "own"));
for (let n = 0; n < clients; n++) writeFileSync(join(tree.path, "own", `${n}.txt`), "count: 0;\n");

const args = ["--http", "0", "--dialect", "agent-tools", "--max-sessions", String(clients + 10)];
const child = spawn(process.execPath, [program, ...args, "--audit", join(scratch, "audit.log"), tree.path], {
  stdio: ["ignore", "ignore", "pipe"],
  env: { ...process.env, POLYFS_STATE_DIR: join(scratch, "state") },
});
process.once("exit", () => {
  child.kill("SIGKILL");
  tree[Symbol.dispose]();
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));
const url = await new Promise<string>((resolve, reject) => {
  let said = "";
  child.stderr.on("data", chunk => {
    said += chunk;
    const [found] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
    if (found !== undefined) resolve(found);
  });
  child.once("close", () => reject(new Error(`the server ended: ${said}`)));
});

interface Sample {
  readonly minute: number;
  readonly mebibytes: number;
}

function resident(): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024;
}

const errors: string[] = [];
const times: number[] = [];
const samples: Sample[] = [];
let calls = 0;
const started = performance.now();
const minute = () => (performance.now() - started) / 60_000;

async function live(client: HttpClient, number: number): Promise<void> {
  const pauseMs = (clients / perSecond) * 1000;
  await sleep(Math.random() * pauseMs);
  let count = 0;
  for (let call = number; minute() < minutes; call++) {
    const i = ((number * 31 + call * 17) % 1000) * 2;
    const path = `src/part${i % 40}/group${Math.floor(i / 40) % 50}/file${i}.${i % 10 < 7 ? "ts" : "md"}`;
    const edit = { old_string: `count: ${count};`, new_string: `count: ${count + 1};` };
    const before = performance.now();
    const kind = call % 10;
    const wrong = await (kind < 7
      ? client.call("read_file", { path })
      : kind < 9
        ? client.call("edit_file", { path: `own/${number}.txt`, ...edit })
        : client.call("grep", { pattern: `compute\\(${i}`, path: `src/part${i % 40}` })
    ).catch(error => String(error));
    if (wrong !== undefined) errors.push(wrong);
    else if (kind === 7 || kind === 8) count++;
    times.push(performance.now() - before);
    calls++;
    await sleep(Math.max(0, pauseMs * (0.5 + Math.random()) - (performance.now() - before)));
  }
  if (readFileSync(join(tree.path, "own", `${number}.txt`), "utf8") !== `count: ${count};\n`)
    errors.push(`client ${number} has lost an edit`);
}

const all = Array.from({ length: clients }, (_, n) => new HttpClient(url, undefined, n % 2 === 0));
for (const client of all) await client.open();
const sampling = setInterval(() => samples.push({ minute: minute(), mebibytes: resident() }), everyMs);
await Promise.all(all.map(live));
clearInterval(sampling);

/** Least squares, in MiB a minute. */
function slope(points: readonly Sample[]): number {
  const mean = (of: (point: Sample) => number) =>
    points.reduce((sum, one) => sum + of(one), 0) / points.length;
  const [x, y] = [mean(one => one.minute), mean(one => one.mebibytes)];
  const over = points.reduce((sum, one) => sum + (one.minute - x) * (one.mebibytes - y), 0);
  return over / points.reduce((sum, one) => sum + (one.minute - x) ** 2, 0);
}

const half = samples.filter(one => one.minute > minutes / 2);
const sorted = times.toSorted((a, b) => a - b);
const quantile = (q: number) => (sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN).toFixed(1);
const tenths = Array.from({ length: 10 }, (_, n) => samples[Math.floor(((n + 1) * samples.length) / 10) - 1]);
console.log(`${clients} clients, ${minutes} minutes, load ${loadavg()[0]?.toFixed(1)}`);
console.log(`${calls} calls, ${(calls / minutes / 60).toFixed(0)} a second, ${errors.length} errors`);
for (const error of errors.slice(0, 5)) console.log(`  ${error}`);
console.log(`ms: p50 ${quantile(0.5)}, p95 ${quantile(0.95)}, p99 ${quantile(0.99)}`);
console.log(`resident MiB, by tenths: ${tenths.map(one => one?.mebibytes.toFixed(0)).join(" ")}`);
console.log(`slope over the last half: ${slope(half).toFixed(2)} MiB a minute (${half.length} samples)`);
for (const client of all) client.close();
process.exit(errors.length === 0 ? 0 : 1);
