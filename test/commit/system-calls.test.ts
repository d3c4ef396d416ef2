// What a warm edit of one line asks of the system, counted by strace: the path is resolved once, and what was resolved
// is carried through.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, it } from "vitest";
import { hasProc } from "../setup/proc.ts";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

let folder = "";
let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

it("a warm edit of one line makes at most 32 system calls, 21 of them in the tree", async ({ skip }) => {
  if (!canTrace) return skip("strace is not installed, or may not trace");
  folder = mkdtempSync(join(tmpdir(), "polyfs-calls-"));
  const [root, state, log] = [join(folder, "root"), join(folder, "state"), join(folder, "log")];
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
  child = spawn(
    "strace",
    ["-f", "-o", log, "-e", "trace=%file,%desc", process.execPath, program, "--state-dir", state, root],
    { stdio: ["pipe", "pipe", "ignore"], env: { ...process.env, POLYFS_CODE_CACHE: "off" } },
  );
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error("no streams");
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const request = async (id: number, method: string, params: object) => {
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value } = await lines.next();
      const message = JSON.parse(value) as { id?: number; result?: { isError?: boolean } };
      if (message.id === id) return message.result;
    }
  };
  const clientInfo = { name: "test", version: "1" };
  await request(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  const edits = 6;
  for (let i = 0; i < edits; i++) {
    const edit = { old: i === 0 ? "two" : `warm-${i - 1}`, new: `warm-${i}` };
    const result = await request(100 + i, "tools/call", {
      name: "edit_file",
      arguments: { path: "a.txt", edits: [edit] },
    });
    expect(result?.isError ?? false).toBe(false);
  }
  const closed = new Promise(resolve => child?.once("close", resolve));
  stdin.end();
  await closed;
  // The background work of one edit may fall into the next one, so the quietest of the warm ones counts.
  const counts = Array.from({ length: edits - 2 }, (_, i) => callsOf(readFileSync(log, "utf8"), 102 + i));
  const all = Math.min(...counts.map(calls => calls.length));
  const inTree = Math.min(...counts.map(calls => calls.filter(call => isInTree(call, root)).length));
  expect(all).toBeGreaterThan(15);
  // Without /proc, the program also changes into directories and checks that it is there.
  expect(all).toBeLessThanOrEqual(hasProc ? 32 : 55);
  if (hasProc) expect(inTree).toBeLessThanOrEqual(21);
});

/**
 * The calls of the main thread about files and descriptors, between a request and its answer. The calls of the event
 * loop, of memory management and of other threads depend on the load.
 */
function callsOf(log: string, id: number): string[] {
  const lines = log.split("\n");
  const asks = (line: string) => /read\(0,|read resumed/.test(line) && line.includes(`\\"id\\":${id},`);
  const from = lines.findIndex(asks);
  const to = lines.findIndex((line, i) => i > from && line.includes("write(1,"));
  if (from < 0 || to < 0) throw new Error(`no call ${id} in the log`);
  const [thread = ""] = lines[from]?.split(" ") ?? [];
  const isCall = (line: string) => line.startsWith(`${thread} `) && !/epoll_| resumed>/.test(line);
  return lines.slice(from + 1, to).filter(isCall);
}

/** Calls of the state directory name it, or are about its journal. */
function isInTree(call: string, root: string): boolean {
  const isState = /\/state\/|fdatasync|utimensat|"2LJP|\/proc\/self\/fd\/\d+\/\.\//.test(call);
  return !isState || call.includes(`"${root}`);
}
