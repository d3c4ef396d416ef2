// What tracing and the audit cost: servers that differ in nothing else are called at the same pace, in turns, and the
// processor time of each is read from the kernel. Servers that are alike differ by some tens of microseconds a call, for
// as long as they run, so there are several of each, and the median of the differences counts. "off" is there twice: how
// much the two differ is the noise.
// `npm run bench:operations -- [rounds] [calls a second]`
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../../dist/polyfs.cjs", import.meta.url)); // from where run.mjs bundles to
const [rounds = 4, perSecond = 1000] = process.argv.slice(2).map(Number);
const callsInRound = perSecond * 2;
const everyMs = 10;
const warmUpCalls = 10_000;
const warmUpAtOnce = 10;
const call = { name: "read_file", arguments: { path: "a.txt", limit: 100 } };

const scratch = mkdtempSync(join(tmpdir(), "polyfs-operations-"));
const root = join(scratch, "root");
mkdirSync(root);
writeFileSync(join(root, "a.txt"), "a line of text\n".repeat(250));

let spans = 0;
const collector = createServer((request, response) => {
  let text = "";
  request.setEncoding("utf8").on("data", chunk => {
    text += chunk;
  });
  request.on("end", () => {
    spans += text.split('"spanId"').length - 1;
    response.end("{}");
  });
});
await new Promise<void>(resolve => collector.listen(0, "127.0.0.1", resolve));
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

class Contender {
  readonly name: string;
  readonly micros: number[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, () => void>();
  #ids = 0;

  constructor(name: string, n: number, args: readonly string[], env: Readonly<Record<string, string>>) {
    this.name = name;
    const state = join(scratch, `state-${name}-${n}`);
    this.#child = spawn(process.execPath, [program, "--state-dir", state, ...args, root], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, ...env },
    });
    if (this.#child.stdout === null) throw new Error("no output");
    createInterface({ input: this.#child.stdout }).on("line", line => {
      const { id } = JSON.parse(line) as { id: number };
      this.#waiting.get(id)?.();
      this.#waiting.delete(id);
    });
  }

  request(method: string, params: unknown): Promise<void> {
    const id = ++this.#ids;
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise(resolve => this.#waiting.set(id, resolve));
  }

  async open(): Promise<void> {
    const clientInfo = { name: "bench", version: "1" };
    await this.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    // Until the code is compiled and optimised, which takes thousands of calls, and longer where there is more of it.
    for (let n = 0; n < warmUpCalls; n += warmUpAtOnce) {
      await Promise.all(Array.from({ length: warmUpAtOnce }, () => this.request("tools/call", call)));
    }
  }

  async round(): Promise<void> {
    const before = this.#processorTime();
    const answers: Promise<void>[] = [];
    const started = performance.now();
    while (answers.length < callsInRound) {
      const due = Math.min(callsInRound, Math.ceil(((performance.now() - started) / 1000) * perSecond));
      while (answers.length < due) answers.push(this.request("tools/call", call));
      await sleep(everyMs);
    }
    await Promise.all(answers);
    this.micros.push((this.#processorTime() - before) / 1000 / callsInRound);
  }

  /** Of all threads, in nanoseconds. */
  #processorTime(): number {
    const tasks = `/proc/${this.#child.pid}/task`;
    return readdirSync(tasks)
      .map(task => Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]))
      .reduce((sum, one) => sum + one, 0);
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }
}

const sets = 5;
const tracing = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
const audit = (name: string, n: number) => ["--audit", join(scratch, `${name}-${n}.log`)];
const startSet = (n: number) => [
  new Contender("off", n, [], {}),
  new Contender("off again", n, [], {}),
  new Contender("tracing", n, [], tracing),
  new Contender("sampled off", n, [], { ...tracing, OTEL_TRACES_SAMPLER: "always_off" }),
  new Contender("audit", n, audit("audit", n), {}),
  new Contender("both", n, audit("both", n), tracing),
];
const contenders: Contender[] = [];
process.once("exit", () => {
  for (const contender of contenders) contender.close();
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

// One set after the other: a server that has been idle for long has given memory back, and pays for it again.
for (let n = 0; n < sets; n++) {
  const set = startSet(n);
  contenders.push(...set);
  for (const contender of set) await contender.open();
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < set.length; at++) await set[(at + round) % set.length]?.round();
  }
  for (const contender of set) contender.close();
}

// A round is compared with those of the two servers with nothing on that ran beside it in the same set.
const named = (name: string) => contenders.filter(one => one.name === name);
const samples = (name: string) => named(name).flatMap(({ micros }) => micros);
const [off, offAgain] = [samples("off"), samples("off again")];
const baseline = off.map((micros, at) => (micros + (offAgain[at] ?? micros)) / 2);
const quartiles = (values: readonly number[]) => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
  return { low: at(0.25), median: at(0.5), high: at(0.75) };
};
const cell = (value: number, width: number) => value.toFixed(1).padStart(width);

console.log(
  `${sets} servers of each, ${rounds} rounds of ${callsInRound} calls at ${perSecond} a second, load ${loadavg()[0]?.toFixed(1)}`,
);
console.log(`${spans} spans came to the collector`);
console.log(`off: ${quartiles(baseline).median.toFixed(1)} µs a call`);
console.log("             µs more   quartiles      of a core");
for (const name of new Set(contenders.map(one => one.name))) {
  if (name === "off") continue;
  const compared = name === "off again" ? off : baseline;
  const { low, median, high } = quartiles(
    samples(name).map((micros, at) => micros - (compared[at] ?? Number.NaN)),
  );
  console.log(
    `${name.padEnd(12)}${cell(median, 8)}${cell(low, 9)} …${cell(high, 6)}${cell((median * perSecond) / 1e4, 10)} %`,
  );
}
process.exit(0);
