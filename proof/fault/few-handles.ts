// One server runs out of handles at random moments, beside others that work or are killed. What it cannot look at must
// not count as absent or dead: every acknowledged line stays, once, and the key of the journals stays.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import type { Trial } from "../suite.ts";
import { end, ServerUnderTest, told } from "./server-under-test.ts";

export async function runOutBesideOthers({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R113")) return;
  if (spawnSync("prlimit", ["--nofile"]).status !== 0) {
    tally.skipped("R113", "needs prlimit");
    return;
  }
  for (let round = 0; round < (long ? 60 : 3); round++) {
    await tally.attempt(`R113 (a server without handles beside others, round ${round})`, async () => {
      await using server = new ServerUnderTest({ a: "", b: "", c: "" });
      const [steady, poor] = [await server.serve(), await server.serve()];
      await told(steady, "write_file", { path: "first", content: "" });
      const key = readFileSync(join(server.state, "key"));
      const done: Record<"a" | "b", string[]> = { a: [], b: [] };
      let over = false;
      const append = async (wire: ProcessWire, path: "a" | "b", line: string) => {
        await told(wire, "write_file", { path, content: `${line}\n`, mode: "append" });
        done[path].push(line);
      };
      const working = (async () => {
        for (let i = 0; !over; i++) await append(steady, "a", `a${i}`);
      })();
      for (let i = 0; i < 25; i++) {
        if (i % 8 === 0) await dieAtWork(server, chance.below(30));
        limit(poor, openIn(poor) + chance.below(10));
        await Promise.allSettled([
          append(poor, "b", `b${i}`),
          told(poor, "read_file", { path: "c" }),
          told(poor, "list_changes", {}),
          told(poor, "search_text", { pattern: "a1" }),
        ]);
        limit(poor, 1024);
        if (i % 5 === 0) await startPoorly(server, 20 + chance.below(25));
      }
      over = true;
      await working;
      if (!readFileSync(join(server.state, "key")).equals(key)) throw new Error("the key was replaced");
      for (const path of ["a", "b"] as const) check(path, done[path], linesIn(server, path));
      if (Number(linesIn(server, "c").length) > 0 && new Set(linesIn(server, "c")).size !== 1)
        throw new Error("half a commit stayed in c");
    });
  }
}

/** A line without an acknowledgement may be there: the call may have failed after the commit. */
function check(path: string, acknowledged: readonly string[], found: readonly string[]): void {
  const lost = acknowledged.filter(line => !found.includes(line));
  if (lost.length > 0) throw new Error(`of ${path}, these are lost: ${lost.join(", ")}`);
  if (new Set(found).size !== found.length) throw new Error(`${path} has a line twice`);
}

function linesIn(server: ServerUnderTest, path: string): string[] {
  return readFileSync(join(server.root, path), "utf8").split("\n").filter(Boolean);
}

/** A server that is killed in the middle of a commit, or before or after it. */
async function dieAtWork(server: ServerUnderTest, ms: number): Promise<void> {
  const wire = await server.serve();
  const write = told(wire, "write_file", { path: "c", content: `${ms}\n`.repeat(50_000) }).catch(() => {});
  await new Promise(resolve => setTimeout(resolve, ms));
  await end(wire);
  await write;
}

/** A server that has few handles from its start. Most fail early. */
async function startPoorly(server: ServerUnderTest, most: number): Promise<void> {
  try {
    const wire = await server.serve({ before: ["sh", "-c", `ulimit -n ${most}; exec "$@"`, "sh"] });
    await told(wire, "write_file", { path: "d", content: "d" }).finally(() => end(wire));
  } catch {
    // as it should
  }
}

function openIn({ child }: ProcessWire): number {
  return readdirSync(`/proc/${child.pid}/fd`).length;
}

function limit({ child }: ProcessWire, files: number): void {
  spawnSync("prlimit", ["--pid", String(child.pid), `--nofile=${files}:`]);
}
