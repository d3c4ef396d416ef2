import { getEventListeners } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startProcess } from "../../src/engine/shell/process.ts";

const node = (script: string) =>
  startProcess(process.execPath, ["-e", script], { cwd: process.cwd(), env: {} });

describe("reading what a process writes", () => {
  it("gives all output in order, including what came before the first read, and then the exit status", async () => {
    const child = await node(
      'for (let i = 0; i < 9; i++) console.log(String(i).repeat(99_999)); console.error("so"); process.exitCode = 3',
    );
    await setTimeout(200);
    const pieces: Buffer[] = [];
    expect(await child.read(piece => pieces.push(piece))).toEqual({
      code: 3,
      signal: undefined,
      errors: "so\n",
    });
    expect(Buffer.concat(pieces).toString()).toBe(
      Array.from({ length: 9 }, (_, i) => `${String(i).repeat(99_999)}\n`).join(""),
    );
  });

  it("ends one that writes for ever when its reader fails, and says why", async () => {
    const child = await node('setInterval(() => console.log("more"), 1)');
    const failing = child.read(() => {
      throw new Error("enough");
    });
    await expect(failing).rejects.toThrow("enough");
    expect(await child.exit).toMatchObject({ signal: "SIGKILL" });
  });
});

describe("a process without a reader", () => {
  const chatty = 'setInterval(() => process.stdout.write("more ".repeat(9999)), 1)';

  it("ends when it is dropped, and its output is released", async () => {
    const child = await node(chatty);
    await setTimeout(200);
    child.drop();
    expect(await child.exit).toMatchObject({ signal: "SIGKILL" });
  });

  it("ends with its caller, and leaves no listener on the caller's signal", async () => {
    const caller = new AbortController();
    const { signal } = caller;
    const env = {};
    const child = await startProcess(process.execPath, ["-e", chatty], { cwd: process.cwd(), env, signal });
    await setTimeout(200);
    caller.abort();
    expect(await child.exit).toMatchObject({ signal: "SIGKILL" });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("can be read after it was ended, up to its last output", async () => {
    const marks = mkdtempSync(join(tmpdir(), "polyfs-process-"));
    const mark = join(marks, "written");
    const child = await node(
      `${chatty}; setTimeout(() => fs.writeFileSync(${JSON.stringify(mark)}, ""), 50)`,
    );
    while (!existsSync(mark)) await setTimeout(10);
    rmSync(marks, { recursive: true });
    child.kill();
    let bytes = 0;
    await child.read(piece => {
      bytes += piece.length;
    });
    expect(bytes).toBeGreaterThan(0);
  });
});
