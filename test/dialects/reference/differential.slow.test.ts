// The same calls to this server and to the one that it replaces, each on its own copy of one tree. Every answer is
// the same, or differs in a way that is documented.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calls } from "./calls.ts";
import { type Comparison, differences } from "./differences.ts";
import { Pair } from "./pair.ts";

let pair: Pair;
beforeAll(async () => {
  pair = await Pair.start();
});
afterAll(() => pair[Symbol.asyncDispose]());

describe("against @modelcontextprotocol/server-filesystem", () => {
  it("every answer is the same, or differs as documented", async () => {
    const counts = new Map(differences.map(({ name }) => [name, 0]));
    const surprises: unknown[] = [];
    let same = 0;
    for (const call of calls) {
      const { ours, theirs } = await pair.ask(call);
      const difference = differenceIn({ call, ours, theirs });
      if (difference === "none") same++;
      else if (difference === undefined) surprises.push({ call, ours: ours.text, theirs: theirs.text });
      else counts.set(difference, (counts.get(difference) ?? 0) + 1);
    }
    const documented = [...counts].map(([name, count]) => `  ${String(count).padStart(4)}  ${name}`);
    console.log(
      [
        `${calls.length} calls to both servers: ${same} answers are the same, ` +
          `${calls.length - same - surprises.length} differ as documented:`,
        ...documented,
      ].join("\n"),
    );
    expect(surprises).toEqual([]);
    expect([...counts].filter(([, count]) => count === 0)).toEqual([]);
    expect(same).toBeGreaterThan(calls.length * 0.8);
  });

  it("every difference has its section in the documentation", () => {
    const page = readFileSync(join(import.meta.dirname, "../../../docs/dialects/reference.md"), "utf8");
    for (const { name } of differences) expect(page).toContain(`\n### ${name}\n`);
  });

  it("the tools, their parameters, their results and what they may do are the same", async () => {
    const [ours, theirs] = await pair.tools();
    expect(ours.map(contract)).toEqual(theirs.map(contract));
  });
});

function differenceIn(comparison: Comparison): string | "none" | undefined {
  if (isDeepStrictEqual(comparison.ours, comparison.theirs)) return "none";
  return differences.find(({ fits }) => fits(comparison))?.name;
}

/** A tool without its words. Hints that are left out have the protocol's defaults. */
function contract({ name, inputSchema, outputSchema, annotations }: Record<string, unknown>): unknown {
  const {
    readOnlyHint = false,
    destructiveHint,
    idempotentHint,
    openWorldHint,
  } = annotations as Record<string, unknown>;
  const hints = readOnlyHint ? { readOnlyHint } : { readOnlyHint, destructiveHint, idempotentHint };
  return { name, hints, openWorldHint, input: wordless(inputSchema), output: wordless(outputSchema) };
}

function wordless(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "description" || key === "$schema" ? undefined : value)),
  );
}
