// Source files that hang a grammar: they lose their own outline, and other files are still parsed.
import { afterEach, expect, it, vi } from "vitest";
import { ask } from "../../src/engine/syntax/thread/thread.ts";

afterEach(() => void vi.restoreAllMocks());

const hanging = (name: string) => ({
  ...{ grammar: "ruby" as const, maxMs: 60_000, declarations: true },
  text: `# ${name}\n${"%w(".repeat(170_000)}`,
});
const small = {
  ...{ grammar: "ruby" as const, maxMs: 60_000, declarations: true },
  text: "class A\n  def b\n  end\nend\n",
};
const namesIn = (parsed: Awaited<ReturnType<typeof ask>>) =>
  parsed?.declarations?.map(({ name }: { name: string }) => name);

it("other files are parsed while one hangs, and after several hangs the grammar is skipped for a minute", async () => {
  const first = ask(hanging("1"));
  const meanwhile = ask(small);
  expect(await first).toBeUndefined();
  expect(namesIn(await meanwhile)).toEqual(["A", "b"]);
  expect(namesIn(await ask(small))).toEqual(["A", "b"]);
  for (const name of ["2", "3"]) expect(await ask(hanging(name))).toBeUndefined();
  expect(await ask(small)).toBeUndefined();
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + 61_000);
  expect(namesIn(await ask(small))).toEqual(["A", "b"]);
});
