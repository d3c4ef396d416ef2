// Many clients over HTTP: 200 at once, half of them with sessions (2025-11-25) and half without (2026-07-28), each
// with a token of its own, 20,000 calls in all: reads, searches, edits of an own file and of one that all share. Then
// what a greedy caller does to the others. Told: times, errors, memory, and whether an edit was lost.
// `npm run bench:http -- [clients] [calls]`
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashText, newToken, printTokens } from "../src/mcp/auth/tokens-file.ts";
import { HttpClient } from "./http-client.ts";
import { GeneratedTree } from "./tree.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const clients = Number(process.argv[2] ?? 200);
const calls = Number(process.argv[3] ?? 20_000);
const each = Math.ceil(calls / clients);
const kinds = ["read", "search", "own edit", "shared edit"] as const;
type Kind = (typeof kinds)[number];

const tree = new GeneratedTree(2000);
const scratch = mkdtempSync(join(tmpdir(), "polyfs-bench-http-"));
const shared = join(tree.path, "shared.txt");
mkdirSync(join(tree.path, "own"));
for (let n = 0; n < clients; n++) writeFileSync(join(tree.path, "own", `${n}.txt`), `count of ${n}: 0;\n`);
writeFileSync(shared, Array.from({ length: clients }, (_, n) => `count of ${n}: 0;\n`).join(""));
const secrets = Array.from({ length: clients + 1 }, newToken);
const file = join(scratch, "tokens.json");
writeFileSync(
  file,
  printTokens(secrets.map((secret, n) => ({ name: `client-${n}`, hash: hashText(secret) }))),
);

const child = spawn(
  process.execPath,
  [
    program,
    "--http",
    "0",
    "--tokens",
    file,
    "--dialect",
    "agent-tools",
    "--max-requests-per-minute",
    "60000",
    tree.path,
  ],
  { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, POLYFS_STATE_DIR: join(scratch, "state") } },
);
process.once("exit", () => {
  child.kill("SIGKILL");
  tree[Symbol.dispose]();
  rmSync(scratch, { recursive: true, force: true });
});
const url = await new Promise<string>((resolve, reject) => {
  let said = "";
  child.stderr.on("data", chunk => {
    said += chunk;
    const [found] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
    if (found !== undefined) resolve(found);
    else process.stderr.write(chunk);
  });
  child.once("close", () => reject(new Error(`the server ended: ${said}`)));
});

async function figure(name: string): Promise<number> {
  const response = await fetch(url.replace(/\/mcp$/, "/metrics"), {
    headers: { authorization: `Bearer ${secrets[0]}` },
  });
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await response.text())?.[1]);
}

const times = new Map<Kind, number[]>(kinds.map(kind => [kind, []]));
const errors: string[] = [];
const memory: number[] = [];
const edits = new Map<number, { own: number; shared: number }>();
let done = 0;

/** A mix that is the same in every run. */
function kindOf(client: number, call: number): Kind {
  const dice = (client * 7919 + call * 104_729) % 100;
  return dice < 60 ? "read" : dice < 75 ? "search" : dice < 90 ? "own edit" : "shared edit";
}

async function oneCall(client: HttpClient, number: number, call: number): Promise<void> {
  const kind = kindOf(number, call);
  const count = edits.get(number) ?? { own: 0, shared: 0 };
  edits.set(number, count);
  const step = (now: number) => ({
    old_string: `count of ${number}: ${now};`,
    new_string: `count of ${number}: ${now + 1};`,
  });
  const i = ((number * 31 + call * 17) % 1000) * 2;
  const path = `src/part${i % 40}/group${Math.floor(i / 40) % 50}/file${i}.${i % 10 < 7 ? "ts" : "md"}`;
  const started = performance.now();
  const wrong = await (kind === "read"
    ? client.call("read_file", { path })
    : kind === "search"
      ? client.call("grep", { pattern: `value${call % 40} = compute\\(${i}`, path: `src/part${i % 40}` })
      : kind === "own edit"
        ? client.call("edit_file", { path: `own/${number}.txt`, ...step(count.own) })
        : client.call("edit_file", { path: "shared.txt", ...step(count.shared) })
  ).catch(error => String(error));
  times.get(kind)?.push(performance.now() - started);
  if (wrong !== undefined) errors.push(`${kind}: ${wrong}`);
  else if (kind === "own edit") count.own++;
  else if (kind === "shared edit") count.shared++;
  if (++done % Math.ceil(calls / 20) === 0) memory.push(await figure("process_resident_memory_bytes"));
}

const all = secrets.slice(0, clients).map((secret, n) => new HttpClient(url, secret, n % 2 === 0));
await Promise.all(all.map(client => client.open()));
const started = performance.now();
await Promise.all(
  all.map(async (client, number) => {
    for (let call = 0; call < each; call++) await oneCall(client, number, call);
  }),
);
const seconds = (performance.now() - started) / 1000;

let lost = 0;
const together = readFileSync(shared, "utf8");
for (const [number, count] of edits) {
  const own = readFileSync(join(tree.path, "own", `${number}.txt`), "utf8");
  if (own !== `count of ${number}: ${count.own};\n`) lost++;
  if (!together.includes(`count of ${number}: ${count.shared};\n`)) lost++;
}

const quantile = (values: readonly number[], q: number) =>
  (values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? Number.NaN).toFixed(1);
const row = (name: string, values: readonly number[]) =>
  console.log(
    `${name.padEnd(24)}${String(values.length).padStart(7)}${[0.5, 0.95, 0.99].map(q => quantile(values, q).padStart(10)).join("")}`,
  );
console.log(`${clients} clients, ${done} calls, load ${loadavg()[0]?.toFixed(1)}`);
console.log(`${seconds.toFixed(1)} s, ${(done / seconds).toFixed(0)} calls a second`);
console.log(`errors ${errors.length}, files with a lost edit ${lost}`);
for (const error of errors.slice(0, 5)) console.log(`  ${error}`);
console.log(
  `${"ms".padEnd(24)}${"calls".padStart(7)}${"p50".padStart(10)}${"p95".padStart(10)}${"p99".padStart(10)}`,
);
for (const kind of kinds) row(kind, times.get(kind) ?? []);
console.log(`memory in MiB, by twentieths: ${memory.map(bytes => Math.round(bytes / 2 ** 20)).join(" ")}`);
console.log(`open files ${await figure("polyfs_open_files")}, sessions ${await figure("polyfs_sessions")}`);

// One caller sends 200 searches at once, again and again, while ten others read.
const readers = all.slice(0, 10);
async function reading(): Promise<number[]> {
  const took: number[] = [];
  await Promise.all(
    readers.map(async reader => {
      for (let n = 0; n < 20; n++) {
        const before = performance.now();
        await reader.call("read_file", { path: "src/part0/group0/file0.ts" });
        took.push(performance.now() - before);
      }
    }),
  );
  return took;
}
row("ten readers", await reading());
const greedy = new HttpClient(url, secrets[clients] ?? "", true);
await greedy.open();
let over = false;
const greed = Promise.all(
  Array.from({ length: 200 }, async () => {
    for (let n = 0; n < 50 && !over; n++)
      await greedy.call("grep", { pattern: "compute\\(\\d+9, 7\\)", path: "src" });
  }),
);
row("ten, and a greedy one", await reading());
over = true;
await greed;
for (const client of [...all, greedy]) client.close();
process.exit(errors.length === 0 && lost === 0 ? 0 : 1);
