// The process: its input and output, how it ends, and that nothing but the protocol is ever on standard output.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle, type ProcessWire, startProgram } from "./wire.ts";

let program = "";
beforeAll(async () => {
  program = await bundle(join(import.meta.dirname, "fixture-program.ts"));
});

const line = (id: number, name: string, args = {}) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } })}\n`;

/** A running call, and the process that runs it. */
async function hanging(): Promise<ProcessWire> {
  const wire = startProgram(program);
  wire.raw(line(1, "hang"));
  await wire.said("hanging");
  return wire;
}

describe("the end of input", () => {
  it("is handled after every request was answered, and the process exits with 0", async () => {
    const wire = startProgram(program);
    wire.raw(line(1, "slow", { steps: 2, ms: 100 }) + line(2, "echo", { text: "hi" }));
    wire.input.end();
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
    expect(wire.received.map(({ id }) => id).sort()).toEqual([1, 2]);
  });

  it("is handled after a large answer, too, however slowly it is read", async () => {
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(line(1, "big", { characters: 8_000_000 }));
    await new Promise(resolve => setTimeout(resolve, 500));
    const { result } = JSON.parse(await text(child.stdout));
    expect(result.content[0].text).toHaveLength(8_000_000);
  });

  it("is handled at once without pending requests", async () => {
    const wire = startProgram(program);
    wire.input.end();
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
    expect(wire.received).toEqual([]);
  });
});

describe("the process", () => {
  it.each(["SIGTERM", "SIGINT"] as const)("stops running calls on %s, and exits cleanly", async signal => {
    const wire = await hanging();
    wire.child.kill(signal);
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
    expect(wire.stderr).toContain("stopped hanging");
  });

  it("ends when its output is closed", async () => {
    const wire = await hanging();
    wire.output.destroy();
    wire.raw(line(2, "echo", { text: "hello?" }));
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
    expect(wire.stderr).toContain("stopped hanging");
  });

  it("ends when its client was killed in the middle of a call", async () => {
    // A parent that starts the server, lets it hang and dies of it; its standard error is the test's.
    const parent = spawn(
      process.execPath,
      [
        "-e",
        `const { spawn } = require("node:child_process");
         const child = spawn(process.execPath, [${JSON.stringify(program)}], { stdio: ["pipe", "pipe", "inherit"] });
         child.stdin.write(${JSON.stringify(line(1, "hang"))});`,
      ],
      { stdio: ["ignore", "ignore", "pipe"] },
    );
    let said = "";
    const everything = new Promise<void>(resolve => parent.stderr.once("close", resolve));
    parent.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said === "hanging\n") parent.kill("SIGKILL");
    });
    // Standard error closes when the last process that holds it is gone: the server.
    await everything;
    expect(said).toContain("the client is gone");
    expect(said).toContain("stopped hanging");
  });

  it("keeps other output away from standard output", async () => {
    const wire = startProgram(program);
    await wire.call("chatter");
    await wire.close();
    expect(wire.garbage).toEqual([]);
    expect(wire.received).toHaveLength(1);
    for (const by of ["by console", "by stream"]) expect(wire.stderr).toContain(`chatter ${by}`);
  });

  it("asks a client for its roots", async () => {
    await using wire = startProgram(program);
    await wire.initialize("2025-11-25", { roots: {} });
    const { id } = await wire.next(({ method }) => method === "roots/list");
    wire.send({ jsonrpc: "2.0", id, result: { roots: [{ uri: "file:///home/me" }] } });
    await wire.said("roots: file:///home/me");
  });
});

describe("large lines", () => {
  it("of many megabytes are received and sent unchanged", async () => {
    await using wire = startProgram(program);
    const body = 'Zeile "\\ ü🙂\n'.repeat(1_500_000);
    const { content } = await wire.call("echo", { text: body });
    expect((content as { text: string }[])[0]?.text === body).toBe(true);
  });

  it("over the limit are refused and dropped, and the next one is served", async () => {
    await using wire = startProgram(program);
    const piece = Buffer.alloc(1024 * 1024, "x");
    for (let sent = 0; sent < 80; sent++) {
      if (!wire.input.write(piece)) await new Promise(resolve => wire.input.once("drain", resolve));
    }
    wire.raw("\n");
    expect(await wire.next()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await wire.request("ping")).toMatchObject({ result: {} });
    expect(wire.received).toHaveLength(2);
  });

  it("that are not read do not stop the server from reading on", async () => {
    await using wire = startProgram(program);
    wire.output.pause();
    for (let id = 1; id <= 8; id++) wire.raw(line(id, "big", { characters: 1_000_000 }));
    wire.raw(line(9, "hang"));
    await wire.said("hanging");
    wire.notify("notifications/cancelled", { requestId: 9 });
    wire.output.resume();
    await wire.request("ping", {}, "last");
    expect(wire.received).toHaveLength(9);
  });
});

describe("many requests at once", () => {
  it("are each answered once", async () => {
    await using wire = startProgram(program);
    const ids = Array.from({ length: 5000 }, (_, i) => i + 1);
    wire.raw(ids.map(id => line(id, "echo", { text: String(id) })).join(""));
    await wire.close();
    expect(wire.received.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(ids);
  });
});
