// `execute_command` by the `replay` contract, over the wire.
import { mkdirSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { odd, running } from "../../shell/fixture.ts";
import { Fixture, type Item, notAllowed } from "./fixture.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.reset({}));

async function run(command: string, more: object = {}): Promise<{ texts: string[]; isError: boolean }> {
  const { content, isError = false } = await fixture.wire.call("execute_command", { command, ...more });
  return { texts: (content as Item[]).map(({ text }) => text), isError: isError === true };
}

describe("execute_command", () => {
  it("returns the output and the exit code", async () => {
    expect(await run("echo out")).toEqual({ texts: ["out\n[exit code: 0]"], isError: false });
    expect(await run("printf out; printf err >&2; exit 3")).toEqual({
      texts: ["out\n[exit code: 3]", "[stderr]\nerr"],
      isError: true,
    });
    expect(await run("true")).toEqual({ texts: ["(no output)\n[exit code: 0]"], isError: false });
    expect(await run("kill -9 $$")).toEqual({ texts: ["(no output)\n[exit code: 137]"], isError: true });
  });

  it("gives an empty input, in /bin/sh", async () => {
    expect((await run("cat; echo $0")).texts).toEqual(["/bin/sh\n[exit code: 0]"]);
  });

  it("runs in the first writable directory, or where it is told to", async () => {
    expect((await run("pwd")).texts[0]).toBe(`${fixture.root}\n[exit code: 0]`);
    mkdirSync(fixture.path("sub"));
    for (const workingDirectory of [fixture.path("sub"), fixture.readOnly]) {
      expect((await run("pwd", { workingDirectory })).texts[0]).toBe(`${workingDirectory}\n[exit code: 0]`);
    }
    expect(
      await fixture.fails("execute_command", { command: "pwd", workingDirectory: fixture.outside }),
    ).toEqual(notAllowed(fixture.outside));
    expect(
      await fixture.fails("execute_command", { command: "pwd", workingDirectory: fixture.path("x") }),
    ).toMatchObject({
      code: -32002,
    });
  });

  it("needs a command", async () => {
    expect(await fixture.fails("execute_command")).toEqual({
      code: -32602,
      message: "Missing required param: command",
    });
    expect(await fixture.fails("execute_command", { command: " " })).toMatchObject({ code: -32602 });
  });

  it("ends a command after its time, and keeps what it wrote", async () => {
    const { texts, isError } = await run("echo partial; sleep 50", { timeout: 4 });
    expect(texts).toEqual(["[command timed out]\npartial\n[exit code: 143]"]);
    expect(isError).toBe(true);
  });

  it("gives it three seconds to end by itself", async () => {
    const command = "trap 'sleep 1; echo cleaned; exit 7' TERM; while :; do sleep 0.1; done";
    expect((await run(command, { timeout: 4 })).texts[0]).toBe(
      "[command timed out]\ncleaned\n[exit code: 7]",
    );
  });

  it("then kills the whole group", async () => {
    // Neither shell minds being asked.
    const mark = `stubborn-${odd()}`;
    const stubborn = `trap '' TERM; : ${mark}; while :; do sleep 0.1; done`;
    const command = `(${stubborn}) & echo begun; ${stubborn}`;
    // A shell may still have told, as its last word, that its `sleep` was killed.
    const { texts, isError } = await run(command, { timeout: 4 });
    expect([texts[0], isError]).toEqual(["[command timed out]\nbegun\n[exit code: 137]", true]);
    expect(running(mark)).toEqual([]);
  });

  it("cuts each stream at 512 KB, and says so", async () => {
    const { texts, isError } = await run("yes | head -c 600000; yes | head -c 524289 >&2");
    const notice = "[output truncated at 512 KB]";
    expect(texts[0]?.length).toBe(524_288 + `${notice}\n[exit code: 0]`.length);
    expect(texts[0]?.endsWith(`y\n${notice}\n[exit code: 0]`)).toBe(true);
    expect(texts[1]).toBe(`[stderr]\n${"y\n".repeat(262_144)}${notice}`);
    expect(isError).toBe(false);
    expect((await run("yes | head -c 524288")).texts[0]).not.toContain(notice);
  });

  it("takes sixty seconds where more are asked for", async () => {
    expect((await run("echo quick", { timeout: 86_400 })).texts).toEqual(["quick\n[exit code: 0]"]);
  });
});

describe("the user who starts the server", () => {
  const names = async (...args: string[]) => {
    const wire = await fixture.serve([...args, fixture.root]);
    const { result } = await wire.request("tools/list");
    return ((result?.tools ?? []) as { name: string }[]).map(({ name }) => name);
  };

  it("can offer commands, or not", async () => {
    expect(await names()).toContain("execute_command");
    const without = await names("--no-run");
    expect(without).toHaveLength(15);
    expect(without).not.toContain("execute_command");
  });

  it("offers none outside a sandbox where nothing may be changed", async () => {
    expect(await names("--read-only")).not.toContain("execute_command");
    expect(await names("--read-only", "--allow-run=unsandboxed")).not.toContain("execute_command");
  });
});
