// Naming the symbol around a hit never holds an answer up: no parser is loaded for it, and what is parsed is bounded.
import { expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

const filler = `${"// nothing of interest in this line\n".repeat(100)}\n`;
const body = (n: number) => `${filler}export function f${n}() {\n  return needle;\n}\n`;
const named = (said: string) => [...said.matchAll(/ ‹ (\w+) /g)].map(([, name]) => name);

/** Searches until an answer names symbols. */
async function untilNamed(server: Server, args: object): Promise<string> {
  for (;;) {
    const said = await server.says("search_text", args);
    if (named(said).length > 0) return said;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}

it("where one place is found, the first answer names its symbol", async () => {
  await using fixture = new Fixture();
  fixture.reset({ "a.ts": body(1) });
  const server = await fixture.serve();
  expect(await server.says("search_text", { pattern: "needle" })).toContain("return needle; ‹ f1 102-104\n");
});

it("where hits are in many files, the first search does not wait for the parser", async () => {
  await using fixture = new Fixture();
  fixture.reset(Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`a${n}.ts`, body(n)])));
  const server = await fixture.serve();
  expect(named(await server.says("search_text", { pattern: "needle" }))).toEqual([]);
  expect(named(await untilNamed(server, { pattern: "needle" })).length).toBeGreaterThan(0);
});

it("of many files those with the most hits for their size are parsed; files parsed before cost nothing", async () => {
  await using fixture = new Fixture();
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`a${n}.ts`, body(n)]));
  fixture.reset({ ...many, "z.ts": "function dense() {\n  needle(needle);\n  needle();\n}\n" });
  const server = await fixture.serve();
  const found: number[] = [];
  for (let round = 0; round < 3; round++) {
    const said = await untilNamed(server, { pattern: "needle" });
    expect(said).toContain("[42 matches in 41 files]");
    expect(named(said)).toContain("dense");
    found.push(named(said).length);
  }
  const [first = 0, second = 0, third = 0] = found;
  expect(first).toBeLessThan(20);
  expect(second).toBeGreaterThan(first);
  expect(third).toBeGreaterThan(second);
});
