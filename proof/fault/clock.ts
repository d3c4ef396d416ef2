// The clock jumps while servers work: what was done last is undone first, whatever time it shows; locks are
// neither broken nor kept for ever; and two servers that disagree about the time do not disturb each other.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";
import { end, ServerUnderTest, told } from "./server-under-test.ts";

const day = 24 * 3_600_000;
const jumps: Readonly<Record<string, number>> = {
  "an hour back": -day / 24,
  "ten years ahead": 3650 * day,
  "to 1970": -56 * 365 * day,
  "a month ahead": 30 * day,
};

function clockIn(server: ServerUnderTest, name: string) {
  const file = join(server.base, name);
  const script = pathToFileURL(join(repository, "proof/fault/clock-program.mjs")).href;
  const set = (offset: number) => writeFileSync(file, String(offset));
  set(0);
  return { set, env: { PROOF_CLOCK: file, NODE_OPTIONS: `--import ${script}` } };
}

/** After each change of a name, a server waits, so that the others act in between. */
const calls = ["mkdir", "unlink", "rename", "link"].flatMap(name => [`?${name}`, `?${name}at`]).join(",");
const slowly = [
  "strace",
  "-f",
  "-qq",
  "-o",
  "/dev/null",
  "-e",
  `trace=${calls}`,
  "-e",
  `inject=${calls}:delay_exit=5000`,
];

/** Servers that start at the same moment all find a state directory in which nothing is recovered yet. */
export async function startTogether({ tally, long }: Trial): Promise<void> {
  if (!tally.wants("R112")) return;
  if (spawnSync("strace", ["-o", "/dev/null", "true"]).status !== 0) {
    tally.skipped("R112", "needs strace, and permission to trace");
    return;
  }
  const count = 6;
  for (let round = 0; round < (long ? 100 : 4); round++) {
    await tally.attempt(`R112 (${count} servers start at the same moment, round ${round})`, async () => {
      await using server = new ServerUnderTest({ a: "" });
      const wires = await Promise.all(Array.from({ length: count }, () => server.serve({ before: slowly })));
      await Promise.all(
        wires.map((wire, i) =>
          told(wire, "edit_file", { path: "a", edits: [{ insert_after: 0, new: `line ${i}\n` }] }),
        ),
      );
      const lines = readFileSync(join(server.root, "a"), "utf8").trim().split("\n");
      if (new Set(lines).size !== count) throw new Error(`of ${count} edits, ${new Set(lines).size} landed`);
      server.orderly();
    });
  }
}

export async function jumpClocks({ tally }: Trial): Promise<void> {
  if (!tally.wants("R110")) return;
  for (const [story, offset] of Object.entries(jumps)) {
    await tally.attempt(`R110 (the clock jumps ${story})`, async () => {
      await using server = new ServerUnderTest({ a: "0" });
      const clock = clockIn(server, "clock");
      const text = () => readFileSync(join(server.root, "a"), "utf8");
      const write = (content: string) => told(wire, "write_file", { path: "a", content });
      let wire = await server.serve({ env: clock.env });
      await write("1");
      clock.set(offset);
      await write("2");
      clock.set(0);
      await write("3");
      await end(wire);
      clock.set(offset); // and again for the next, which finds what is older or younger than itself
      wire = await server.serve({ env: clock.env });
      await write("4");
      // A second undo would revert the first, so each change is named: newest first.
      const listed = await told(wire, "list_changes", {});
      const ids = [...listed.matchAll(/^(\w{11,14}) · /gm)].map(([, id = ""]) => id);
      await told(wire, "undo", {});
      if (text() !== "3") throw new Error(`undo led to ${text()} instead of 3`);
      for (const [index, expected] of ["2", "1", "0"].entries()) {
        await told(wire, "undo", { change: ids[index + 1] });
        if (text() !== expected) throw new Error(`undo led to ${text()} instead of ${expected}`);
      }
      server.orderly();
    });
    await tally.attempt(`R110 (the clock jumps ${story}: what was done since the start)`, async () => {
      await using server = new ServerUnderTest({ a: "0" });
      const clock = clockIn(server, "clock");
      const earlier = await server.serve({ env: clock.env });
      await told(earlier, "write_file", { path: "b", content: "of an earlier connection" });
      await end(earlier);
      const wire = await server.serve({ env: clock.env });
      await told(wire, "write_file", { path: "a", content: "1" });
      clock.set(offset);
      await told(wire, "write_file", { path: "a", content: "2" });
      const listed = await told(wire, "list_changes", { since: "start", path: "a" });
      const count = [...listed.matchAll(/^\w{11,14} · /gm)].length;
      if (count !== 2) throw new Error(`${count} changes are listed instead of 2`);
      await told(wire, "undo", { since: "start" });
      const [a, b] = ["a", "b"].map(name => readFileSync(join(server.root, name), "utf8"));
      if (a !== "0" || b !== "of an earlier connection") throw new Error(`undo led to ${a} and ${b}`);
      server.orderly();
    });
    await tally.attempt(`R111 (one of two servers is ${story} of the other)`, async () => {
      await using server = new ServerUnderTest({ a: "" });
      const clock = clockIn(server, "clock");
      clock.set(offset);
      const [one, other] = [await server.serve({ env: clock.env }), await server.serve()];
      const edits = Array.from({ length: 12 }, (_, i) =>
        told(i % 2 === 0 ? one : other, "edit_file", {
          path: "a",
          edits: [{ insert_after: 0, new: `line ${i}\n` }],
        }),
      );
      await Promise.all(edits);
      const lines = readFileSync(join(server.root, "a"), "utf8").trim().split("\n");
      if (new Set(lines).size !== 12) throw new Error(`of 12 edits, ${new Set(lines).size} landed`);
      server.orderly();
    });
  }
}
