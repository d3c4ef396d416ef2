// ripgrep does not outlive the server, and does not take memory for each match of a line.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { grep } from "../../src/engine/search/grep.ts";
import { searchArguments, startRipgrep } from "../../src/engine/search/ripgrep.ts";
import { start } from "../mcp/wire.ts";
import { hasProc } from "../setup/proc.ts";
import { all, Tree } from "./tree.ts";

const megabyte = 1024 * 1024;

describe.runIf(process.platform === "linux")("ripgrep", () => {
  it.runIf(hasProc)(
    "ends when the server is killed during a search",
    async () => {
      using tree = new Tree({});
      writeFileSync(join(tree.path, "large.txt"), `${"y".repeat(99)}\n`.repeat(1_000_000));
      await using wire = await start({ dialect: "polyfs", roots: [tree.path] });
      await wire.initialize();
      const args = { name: "search_text", arguments: { pattern: "(y|z)+(q|needle)" } };
      // Stopped, it cannot come to its end by itself. It may before that, if we are too slow.
      for (let pids: readonly number[] = []; pids.length === 0; ) {
        let isDone = false;
        wire.request("tools/call", args).then(
          () => {
            isDone = true;
          },
          () => {},
        );
        while (!isDone && pids.length === 0) {
          pids = ripgrepsIn(tree.path).filter(stop);
          await sleep(1);
        }
      }
      try {
        wire.child.kill("SIGKILL");
        await expect.poll(() => ripgrepsIn(tree.path), { timeout: 20_000 }).toEqual([]);
      } finally {
        for (const pid of ripgrepsIn(tree.path)) process.kill(pid, "SIGKILL");
      }
    },
    240_000,
  );

  it.runIf(hasProc)("does not wait for a pipe that was put in the place of a file", async () => {
    using tree = new Tree({ "a.txt": "needle" });
    execFileSync("mkfifo", [join(tree.path, "pipe")]);
    using directory = tree.directory();
    const args = searchArguments({ pattern: "needle" }, { before: 0, after: 0 }, [], ["./pipe"]);
    const { signal } = await (await startRipgrep(directory, args)).read(() => {});
    expect(signal).toBe("SIGKILL");
  });

  it.runIf(hasProc)(
    "takes no more than a few times the size of a line that is 100 MB of matches",
    async () => {
      using tree = new Tree({});
      writeFileSync(join(tree.path, "large.txt"), Buffer.alloc(100 * megabyte, "x"));
      using directory = tree.directory();
      let most = 0;
      // Once more, if it had come to its end before we saw it.
      while (most === 0) {
        const watch = setInterval(() => {
          for (const pid of ripgrepsIn(tree.path)) most = Math.max(most, peakOf(pid));
        }, 1);
        const search = grep(directory, { pattern: "[x]" }, { limit: 101, maxLineBytes: 8000 });
        const files = await all(search).finally(() => clearInterval(watch));
        expect(files.map(({ path }) => path)).toEqual(["large.txt"]);
      }
      expect(most).toBeLessThan(400 * megabyte);
    },
    240_000,
  );
});

/** Whether it was still there to be stopped. */
function stop(pid: number): boolean {
  try {
    return process.kill(pid, "SIGSTOP");
  } catch {
    return false;
  }
}

/** Those that are started in `path`. */
function ripgrepsIn(path: string): number[] {
  return readdirSync("/proc").flatMap(pid => {
    try {
      const isOne =
        readlinkSync(`/proc/${pid}/cwd`) === path && readlinkSync(`/proc/${pid}/exe`).endsWith("/rg");
      return isOne ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

/** The most memory that a process has had, in bytes. */
function peakOf(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}
