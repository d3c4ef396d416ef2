// Many edits at once, from one client and from several processes: what was reported as done is in the files, what
// was refused is not, and no call hangs.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fixture, type Server } from "./fixture.ts";

const count = 100;
const numbers = Array.from({ length: count }, (_, i) => i);
const slots = (name = "") => numbers.map(i => `${name}slot ${i};\n`).join("");

/** Calls that each do one thing, spread over the servers, all at once; which of them succeeded. */
async function race(
  servers: readonly Server[],
  tool: string,
  params: (i: number) => object,
): Promise<boolean[]> {
  return Promise.all(
    numbers.map(async i => {
      const { isError, content } = (await servers[i % servers.length]?.result(tool, params(i))) ?? {};
      const said = content?.[0]?.text ?? "";
      // A conflicting change is the only reason to refuse.
      if (isError) expect(JSON.parse(said), said).toMatchObject({ error: "io_error" });
      return isError !== true;
    }),
  );
}

const gatherings: readonly (readonly [string, number, "together" | "apart"])[] = [
  ["one client", 1, "together"],
  ["four processes", 4, "together"],
  ["four processes that keep their state apart", 4, "apart"],
];

describe.each(gatherings)("a hundred calls at once from %s", (_, processes, state) => {
  async function gathered(fixture: Fixture): Promise<Server[]> {
    const own = (i: number) => ({ POLYFS_STATE_DIR: join(fixture.base, `state-${i}`) });
    return Promise.all(
      Array.from({ length: processes }, (_, i) => fixture.serve(state === "apart" ? { env: own(i) } : {})),
    );
  }
  /** The files in the workspace after all clients have gone. */
  async function leftovers(fixture: Fixture): Promise<string[]> {
    await fixture.leave();
    return readdirSync(fixture.root).filter(name => name.startsWith(".polyfs-"));
  }

  it("edit_file on one file", async () => {
    await using fixture = new Fixture({ "f.txt": slots() });
    const done = await race(await gathered(fixture), "edit_file", i => ({
      path: "f.txt",
      old_string: `slot ${i};`,
      new_string: `done ${i};`,
    }));
    expect(fixture.read("f.txt")).toBe(numbers.map(i => `${done[i] ? "done" : "slot"} ${i};\n`).join(""));
    if (processes === 1) expect(done.every(Boolean)).toBe(true);
    expect(done.filter(Boolean).length).toBeGreaterThan(count / 2);
    expect(await leftovers(fixture)).toEqual([]);
  });

  it("multi_edit on one file, each of them whole or not at all", async () => {
    await using fixture = new Fixture({ "f.txt": slots("a ") + slots("b ") });
    const done = await race(await gathered(fixture), "multi_edit", i => ({
      path: "f.txt",
      edits: [
        { old_string: `a slot ${i};`, new_string: `a done ${i};` },
        { old_string: `b slot ${i};`, new_string: `b done ${i};` },
      ],
    }));
    const expected = ["a", "b"].flatMap(half =>
      numbers.map(i => `${half} ${done[i] ? "done" : "slot"} ${i};\n`),
    );
    expect(fixture.read("f.txt")).toBe(expected.join(""));
    if (processes === 1) expect(done.every(Boolean)).toBe(true);
  });

  it("apply_patch over two of three files, in every order", async () => {
    const files = ["x.txt", "y.txt", "z.txt"];
    await using fixture = new Fixture(Object.fromEntries(files.map(file => [file, slots()])));
    const chosen = (i: number) => [files[i % 3], files[(i + 1 + (i % 2)) % 3]] as const;
    const block = (file: string | undefined, i: number) =>
      `--- a/${file}\n+++ b/${file}\n@@ -${i + 1} +${i + 1} @@\n-slot ${i};\n+done ${i};\n`;
    const done = await race(await gathered(fixture), "apply_patch", i => ({
      patch: chosen(i)
        .map(file => block(file, i))
        .join(""),
    }));
    for (const file of files) {
      const touched = (i: number) => done[i] && chosen(i).includes(file);
      expect(fixture.read(file)).toBe(numbers.map(i => `${touched(i) ? "done" : "slot"} ${i};\n`).join(""));
    }
    if (processes === 1) expect(done.every(Boolean)).toBe(true);
    expect(await leftovers(fixture)).toEqual([]);
  });
});
