// What the structure of code costs, as processor time and memory: the first structural answer of a server, an edit of
// a file of 1,000 lines with and without a grammar, and the memory of the parser; and how small an outline and a symbol
// are beside their file. `node bench/run.mjs structure [rounds]`
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StdioClient } from "../proof/client/stdio-client.ts";
import { median, processorTime, residentOf } from "./processor-time.ts";

const rounds = Number(process.argv[2] ?? 9);
const base = mkdtempSync(join(tmpdir(), "polyfs-bench-structure-"));
const root = join(base, "root");

/** Classes with methods of eight lines, as code has them. */
function code(lines: number): string {
  const methods = Array.from({ length: Math.floor(lines / 10) }, (_, i) =>
    [
      `  /** Adds what belongs to part ${i}. */`,
      `  addPart${i}(first: number, second: string): number {`,
      `    const known = this.parts.get("part-${i}") ?? { count: 0, names: [] };`,
      "    for (const name of second.split(',')) {",
      "      known.count += first * name.length;",
      "      known.names.push(name.trim().toLowerCase());",
      "    }",
      `    this.parts.set("part-${i}", known);`,
      "    return known.count;",
      "  }",
    ].join("\n"),
  );
  return `export class Parts {\n${methods.join("\n")}\n}\n`;
}

try {
  mkdirSync(root);
  for (const name of ["small.ts", "plain.txt"]) writeFileSync(join(root, name), code(1000));
  writeFileSync(join(root, "large.ts"), code(2000));
  await measure();
} finally {
  rmSync(base, { recursive: true, force: true });
}

async function measure(): Promise<void> {
  const [first, memory, withGrammar, without]: number[][] = [[], [], [], []];
  let shares = "";
  for (let round = 0; round < rounds; round++) {
    const client = await StdioClient.start({
      dialect: "polyfs",
      root,
      state: join(base, "state"),
      client: "bench",
    });
    const call = async (name: string, parameters: object) => {
      const { result } = await client.request("tools/call", { name, arguments: parameters });
      return ((result as { content?: { text: string }[] }).content ?? []).map(({ text }) => text).join("\n");
    };
    const costOf = async (action: () => Promise<unknown>) => {
      const before = processorTime(client.pid);
      await action();
      return processorTime(client.pid) - before;
    };
    try {
      await call("read_file", { path: "plain.txt" });
      const held = residentOf(client.pid);
      first?.push(await costOf(() => call("read_file", { path: "small.ts", outline: true })));
      memory?.push(residentOf(client.pid) - held);
      for (let turn = 0; turn < 20; turn++)
        for (const [path, times] of [
          ["small.ts", withGrammar],
          ["plain.txt", without],
        ] as const) {
          const [old, made] = turn % 2 === 0 ? ["part-50", "part-five"] : ["part-five", "part-50"];
          const edits = [{ old: `this.parts.set("${old}"`, new: `this.parts.set("${made}"` }];
          const cost = await costOf(() => call("edit_file", { path, edits }));
          if (turn > 1) times?.push(cost);
        }
      if (round === 0) {
        const whole = code(2000).length;
        const outline = (await call("read_file", { path: "large.ts", outline: true })).length;
        const symbol = (await call("read_file", { path: "large.ts#Parts.addPart77" })).length;
        shares = `outline ${percent(outline / whole)} of the bytes, one symbol ${percent(symbol / whole)}`;
      }
    } finally {
      await client.close();
    }
  }
  say(`the first structural answer of a server: ${median(first ?? []).toFixed(0)} ms of processor time`);
  say(`memory with the parser and a grammar: ${median(memory ?? []).toFixed(1)} MB more`);
  const [a, b] = [median(withGrammar ?? []), median(without ?? [])];
  say(
    `an edit of a file of 1,000 lines: ${a.toFixed(1)} ms as code, ${b.toFixed(1)} as plain text (${(a - b).toFixed(1)} ms more)`,
  );
  say(`a file of 2,000 lines: ${shares}`);
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
