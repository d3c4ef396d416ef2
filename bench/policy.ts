// What rules cost, as processor time: a decision, a read of 4 KB and a start, each with and without a policy in
// interleaved rounds of one run. `node bench/run.mjs policy [rounds]`
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClient } from "../proof/client/stdio-client.ts";
import { defaultRules } from "../src/engine/policy/default-rules.ts";
import { Policy } from "../src/engine/policy/policy.ts";
import type { PolicyRule } from "../src/engine/policy/rule.ts";
import { median, processorTime } from "./processor-time.ts";

const rounds = Number(process.argv[2] ?? 15);
const reads = 1_000;
const asked = { name: "read_file", arguments: { path: "4k.txt" } };
const base = mkdtempSync(join(tmpdir(), "polyfs-bench-policy-"));
const root = join(base, "root");
try {
  mkdirSync(root);
  writeFileSync(join(root, "4k.txt"), "x".repeat(4096));
  decisions();
  await readsAndStarts();
} finally {
  rmSync(base, { recursive: true, force: true });
}

/** A hundred rules of every shape; each path is asked about once, so that no answer is remembered. */
function decisions(): void {
  const rules: PolicyRule[] = Array.from({ length: 100 }, (_, i) => ({
    paths: [`area${i}/**/*.k${i}`, `*.secret${i}`, `conf/part${i}/*`, `!conf/part${i}/open*`],
    access: (["mask", "read", "deny", "write"] as const)[i % 4] ?? "read",
  }));
  const paths = Array.from(
    { length: 50_000 },
    (_, i) => `area${i % 120}/module${i % 977}/deep/file-${i}.k${i % 110}`,
  );
  for (const [name, set] of [
    ["100 rules", rules],
    ["the built-in rules", defaultRules],
  ] as const) {
    const times: number[] = [];
    for (let round = 0; round < 5; round++) {
      const policy = new Policy(set);
      const before = process.cpuUsage();
      for (const path of paths) policy.decide("/home/me/project", path);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / paths.length);
    }
    say(`a decision with ${name}, not remembered: ${median(times).toFixed(2)} µs`);
  }
}

async function readsAndStarts(): Promise<void> {
  const kinds = ["none", "default"] as const;
  const [read, start] = [
    { none: [] as number[], default: [] as number[] },
    { none: [] as number[], default: [] as number[] },
  ];
  for (let round = 0; round < rounds; round++)
    for (const policy of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const state = join(base, `state-${policy}`);
      const client = await StdioClient.start({
        dialect: "polyfs",
        root,
        state,
        client: "bench",
        args: ["--policy", policy],
      });
      try {
        start[policy].push(processorTime(client.pid));
        for (let i = 0; i < 300; i++) await client.request("tools/call", asked);
        const before = processorTime(client.pid);
        for (let i = 0; i < reads; i++) await client.request("tools/call", asked);
        read[policy].push((processorTime(client.pid) - before) / reads);
      } finally {
        await client.close();
      }
    }
  const [without, under] = [median(read.none), median(read.default)];
  say(
    `a read of 4 KB: ${(1000 * without).toFixed(0)} µs without rules, ${(1000 * under).toFixed(0)} with the built-in ones (${(under / without).toFixed(3)} x)`,
  );
  const [bare, ruled] = [median(start.none), median(start.default)];
  say(
    `a start: ${bare.toFixed(1)} ms without rules, ${ruled.toFixed(1)} with them (${(ruled - bare).toFixed(1)} ms more)`,
  );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
