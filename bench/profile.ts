// `node bench/run.mjs profile FILE…`: what a CPU profile says, in two lists: the functions that took the time
// themselves, and those that it was spent below. Idle time is left out.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: Frame;
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const shown = 25;

for (const file of process.argv.slice(2)) {
  console.log(`\n${basename(file)}`);
  print(JSON.parse(readFileSync(file, "utf8")));
}

function print({ nodes, samples, timeDeltas }: Profile): void {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map(child => [child, id] as const)),
  );
  const own = new Map<string, number>();
  const below = new Map<string, number>();
  const add = (times: Map<string, number>, name: string, us: number) =>
    times.set(name, (times.get(name) ?? 0) + us);
  let total = 0;
  for (const [i, sample] of samples.entries()) {
    const name = names.get(sample) ?? "";
    const us = timeDeltas[i] ?? 0;
    if (name.startsWith("(idle)")) continue;
    total += us;
    add(own, name, us);
    // A function that calls itself counts once.
    const seen = new Set<string>();
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id))
      seen.add(names.get(id) ?? "");
    for (const each of seen) add(below, each, us);
  }
  list("by itself", own, total);
  list("with what it called", below, total);
}

function list(title: string, times: ReadonlyMap<string, number>, total: number): void {
  console.log(`${title}:`);
  for (const [name, us] of [...times].toSorted((a, b) => b[1] - a[1]).slice(0, shown)) {
    const share = `${((100 * us) / total).toFixed(1)} %`;
    console.log(`${(us / 1000).toFixed(1).padStart(9)} ms ${share.padStart(7)}  ${name}`);
  }
}

function nameOf({ functionName, url, lineNumber }: Frame): string {
  const place = url === "" ? "" : ` ${basename(url)}:${lineNumber + 1}`;
  return `${functionName || "(anonymous)"}${place}`;
}
