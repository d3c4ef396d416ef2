// A client that asks for many large files at once, and reads no answer, does not fill the server's memory.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { MemoryBudget } from "../../src/engine/memory-budget.ts";
import { hasProc } from "../setup/proc.ts";
import { envelope } from "./in-process.ts";

const program = join(import.meta.dirname, "../../dist/polyfs.cjs");
const fileBytes = 30_000_000;
const mostBytes = 1_200_000_000;

function largeFile(): { root: string; path: string; state: string } {
  const base = mkdtempSync(join(tmpdir(), "polyfs-memory-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const path = join(base, "large.txt");
  writeFileSync(path, "all work and no play makes a dull file\n".repeat(fileBytes / 39));
  return { root: base, path, state: mkdtempSync(join(tmpdir(), "polyfs-memory-state-")) };
}

function serving(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [program, "--dialect", "replay", ...args]);
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stderr?.resume();
  return child;
}

function call(id: number, path: string) {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: "read_file", arguments: { path } } };
}

const initialize = {
  jsonrpc: "2.0",
  id: "first",
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

const modernHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "read_file",
};

const read = (child: ChildProcess, file: string) => readFileSync(`/proc/${child.pid}/${file}`, "utf8");
const peak = (child: ChildProcess) => 1024 * Number(/VmHWM:\s*(\d+)/.exec(read(child, "status"))?.[1]);
const bytesRead = (child: ChildProcess) => Number(/rchar: (\d+)/.exec(read(child, "io"))?.[1]);

async function addressOf(child: ChildProcess): Promise<string> {
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  const address = /https?:\/\/\S+\/mcp[^\s"]*/;
  await expect.poll(() => said).toMatch(address);
  return address.exec(said)?.[0] ?? "";
}

/** Waits until the server has read no more for a while. */
async function settled(child: ChildProcess): Promise<void> {
  for (let before = -1, now = bytesRead(child); now !== before; now = bytesRead(child)) {
    before = now;
    await sleep(2000);
  }
}

describe.runIf(hasProc)("many large files that one client asks for at once", () => {
  it("over standard input take a bounded amount of memory; all are answered once the client reads", async () => {
    const { root, path, state } = largeFile();
    const child = serving("--state-dir", state, root);
    const lines = Array.from({ length: 60 }, (_, id) => `${JSON.stringify(call(id, path))}\n`);
    child.stdin?.write(`${JSON.stringify(initialize)}\n${lines.join("")}`);
    await settled(child);
    expect(bytesRead(child)).toBeLessThan(20 * fileBytes);
    let answers = 0;
    child.stdout?.on("data", (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) answers++;
    });
    await expect.poll(() => answers, { timeout: 200_000, interval: 100 }).toBe(61);
    expect(peak(child)).toBeLessThan(mostBytes);
  });

  it("are not read any more when the client is gone", async () => {
    const { root, path, state } = largeFile();
    const child = serving("--state-dir", state, root);
    const lines = Array.from({ length: 200 }, (_, id) => `${JSON.stringify(call(id, path))}\n`);
    child.stdin?.write(`${JSON.stringify(initialize)}\n${lines.join("")}`);
    await settled(child);
    child.stdout?.destroy();
    child.stdin?.destroy();
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });

  it("over HTTP take a bounded amount of memory, and other callers are answered", async () => {
    const { root, path, state } = largeFile();
    const small = join(root, "small.txt");
    writeFileSync(small, "small\n");
    const child = serving("--http", "0", "--state-dir", state, root);
    const url = await addressOf(child);
    const requests: ClientRequest[] = [];
    onTestFinished(() => {
      for (const one of requests) one.destroy();
    });
    const post = (file: string) => {
      const one = request(url, { method: "POST", headers: modernHeaders });
      one.on("error", () => {});
      requests.push(one);
      const { params, ...rest } = call(1, file);
      one.end(JSON.stringify({ ...rest, params: { ...params, _meta: envelope() } }));
      return one;
    };
    // More than there are slots for reads: each connection is a caller of its own.
    for (let n = 0; n < 100; n++) post(path).on("response", answer => answer.pause());
    await settled(child);
    const [answer] = (await once(post(small), "response")) as [IncomingMessage];
    let text = "";
    for await (const chunk of answer) text += chunk;
    expect(text).toContain("small");
    expect(peak(child)).toBeLessThan(mostBytes);
  });
});

it.runIf(hasProc)(
  "large bodies over HTTP take a bounded amount of memory; what is too much is refused",
  async () => {
    const { root, state } = largeFile();
    const child = serving("--http", "0", "--state-dir", state, root);
    const url = await addressOf(child);
    const content = "z".repeat(60_000_000);
    const write = async (n: number) => {
      const params = {
        name: "write_file",
        arguments: { path: join(root, `w${n}`), content },
        _meta: envelope(),
      };
      const answer = await fetch(url, {
        method: "POST",
        headers: { ...modernHeaders, "mcp-name": "write_file" },
        body: JSON.stringify({ jsonrpc: "2.0", id: n, method: "tools/call", params }),
      }).catch(() => undefined);
      return answer?.status;
    };
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, n) => write(n)));
    expect(await write(9)).toBe(200);
    expect(statuses).not.toContain(500);
    expect(peak(child)).toBeLessThan(mostBytes);
  },
);

describe("the memory budget", () => {
  it("lets one file in that is larger than all of it, and the next one only after that", async () => {
    const budget = new MemoryBudget(10);
    await budget.read(20);
    let isIn = false;
    const second = budget.read(1).then(() => {
      isIn = true;
    });
    await sleep(10);
    expect(isIn).toBe(false);
    budget.readEnded(20);
    await second;
  });

  it("lets a call go on that holds one file and waits for another", async () => {
    const budget = new MemoryBudget(10);
    await Promise.all([budget.read(5), budget.read(5)]);
    await Promise.all([budget.read(5), budget.read(5)]);
  });

  it("admits no file as long as unread answers fill it", async () => {
    const megabyte = 1024 * 1024;
    const budget = new MemoryBudget(megabyte);
    budget.answer(megabyte);
    let isIn = false;
    const file = budget.read(1).then(() => {
      isIn = true;
    });
    await sleep(1500);
    expect(isIn).toBe(false);
    budget.answerRead(megabyte);
    await file;
  });
});
