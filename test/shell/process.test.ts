import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { startProcess } from "../../src/engine/shell/process.ts";

const node = (script: string) =>
  startProcess(process.execPath, ["-e", script], { cwd: process.cwd(), env: {} });

describe("reading what a process writes", () => {
  it("gives all of it in order, also what came before anybody read, and then how it ended", async () => {
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

  it("ends one that writes for ever when whoever takes it fails, and says why", async () => {
    const child = await node('setInterval(() => console.log("more"), 1)');
    const failing = child.read(() => {
      throw new Error("enough");
    });
    await expect(failing).rejects.toThrow("enough");
    expect(await child.exit).toMatchObject({ signal: "SIGKILL" });
  });
});
