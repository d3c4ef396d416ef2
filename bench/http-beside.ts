// HTTP beside a server on the plain SDK: the same clients call both in turns. Told for each: calls a second, times, the
// processor time of the server for a call, and its memory.
// `npm run bench:http-beside -- [clients] [calls] [rounds]`
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashText, newToken, printTokens } from "../src/mcp/auth/tokens-file.ts";
import { HttpClient } from "./http-client.ts";
import { median, processorTime, residentOf } from "./processor-time.ts";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const plain = fileURLToPath(new URL("../../bench/floor/http-server.mjs", import.meta.url));
const [clients = 200, calls = 4000, rounds = 3] = process.argv.slice(2).map(Number);
const each = Math.ceil(calls / clients);

const scratch = mkdtempSync(join(tmpdir(), "polyfs-http-beside-"));
const root = join(scratch, "root");
mkdirSync(root);
const secrets = Array.from({ length: clients }, newToken);
for (const n of secrets.keys())
  writeFileSync(join(root, `${n}.txt`), `count: 0;\n${"a line of text\n".repeat(250)}`);
const tokens = join(scratch, "tokens.json");
writeFileSync(
  tokens,
  printTokens(secrets.map((secret, n) => ({ name: `client-${n}`, hash: hashText(secret) }))),
);

class Contender {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #url: Promise<string>;
  readonly #modern: boolean;
  #clients: HttpClient[] = [];
  readonly #edits: number[] = secrets.map(() => 0);
  readonly figures = new Map<string, { perSecond: number[]; micros: number[]; times: number[] }>();
  failed = 0;

  constructor(name: string, args: readonly string[], modern = false) {
    this.name = name;
    this.#modern = modern;
    const child = spawn(process.execPath, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, POLYFS_STATE_DIR: join(scratch, `state-${name.replaceAll(/\W/g, "-")}`) },
    });
    this.#child = child;
    this.#url = new Promise((resolve, reject) => {
      let said = "";
      child.stderr?.on("data", chunk => {
        said += chunk;
        const [found] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once("close", () => reject(new Error(`the server ended: ${said}`)));
    });
  }

  async open(): Promise<void> {
    const url = await this.#url;
    this.#clients = secrets.map(secret => new HttpClient(url, secret, this.#modern));
    for (const client of this.#clients) await client.open();
    await this.round("read");
    await this.round("edit");
    this.figures.clear(); // compiled now
  }

  async round(kind: "read" | "edit"): Promise<void> {
    const times: number[] = [];
    const before = processorTime(this.#child.pid ?? 0);
    const started = performance.now();
    await Promise.all(
      this.#clients.map(async (client, n) => {
        for (let call = 0; call < (kind === "read" ? each : Math.ceil(each / 5)); call++) {
          const sent = performance.now();
          const path = `${n}.txt`;
          const now = this.#edits[n] ?? 0;
          const [old_string, new_string] = [`count: ${now};`, `count: ${now + 1};`];
          const wrong = await (kind === "read"
            ? client.call("read_file", { path })
            : client.call("edit_file", { path, old_string, new_string }));
          if (wrong !== undefined && this.failed++ === 0) console.log(`${this.name}: ${wrong}`);
          else if (kind === "edit") this.#edits[n] = now + 1;
          times.push(performance.now() - sent);
        }
      }),
    );
    const ms = performance.now() - started;
    const micros = ((processorTime(this.#child.pid ?? 0) - before) * 1000) / times.length;
    const all = this.figures.get(kind) ?? { perSecond: [], micros: [], times: [] };
    this.figures.set(kind, all);
    all.perSecond.push((times.length * 1000) / ms);
    all.micros.push(micros);
    all.times.push(...times);
  }

  get resident(): number {
    return residentOf(this.#child.pid ?? 0);
  }

  /** Resets the files, because the next contender counts from 0 again. */
  reset(): void {
    for (const [n, count] of this.#edits.entries())
      if (count > 0) writeFileSync(join(root, `${n}.txt`), `count: 0;\n${"a line of text\n".repeat(250)}`);
    this.#edits.fill(0);
  }

  close(): void {
    this.#child.kill("SIGKILL");
    for (const client of this.#clients) client.close();
  }
}

const served = [
  program,
  "--http",
  "0",
  "--tokens",
  tokens,
  "--dialect",
  "agent-tools",
  "--max-requests-per-minute",
  "6000000",
  root,
];
const contenders = [
  new Contender("polyfs", served),
  new Contender("polyfs, 2026-07-28", served, true),
  new Contender("plain SDK", [plain, root]),
];
process.once("exit", () => {
  for (const contender of contenders) contender.close();
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

for (const contender of contenders) {
  await contender.open();
  contender.reset();
}
for (let round = 0; round < rounds; round++)
  for (const contender of contenders) {
    await contender.round("read");
    await contender.round("edit");
    contender.reset();
  }

const quantile = (values: readonly number[], q: number) =>
  values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * q)] ?? Number.NaN;
console.log(`${clients} clients, ${rounds} rounds of ${calls} reads, load ${loadavg()[0]?.toFixed(1)}`);
console.log("| | | calls a second | median ms | 99th ms | processor time µs a call | memory MiB |");
console.log("|---|---|---:|---:|---:|---:|---:|");
for (const { name, figures, resident } of contenders)
  for (const [kind, { perSecond, micros, times }] of figures)
    console.log(
      `| ${name} | ${kind} | ${median(perSecond).toFixed(0)} | ${quantile(times, 0.5).toFixed(1)} | ${quantile(times, 0.99).toFixed(1)} | ${median(micros).toFixed(0)} | ${resident.toFixed(0)} |`,
    );
process.exit(contenders.some(({ failed }) => failed > 0) ? 1 : 0);
