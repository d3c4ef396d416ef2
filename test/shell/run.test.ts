// Running commands without confinement: how they end, what is kept of their output, and that nothing stays.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runningCommands } from "../../src/engine/shell/living.ts";
import { run } from "../../src/engine/shell/run.ts";
import { inheritedDescriptors } from "../../src/engine/workspace/system/inherited.ts";
import { end, Fixture, odd, running } from "./fixture.ts";

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
});
afterEach(() => fixture[Symbol.dispose]());

describe("a command ends", () => {
  it("with its exit code, and with its two streams apart", async () => {
    const result = await fixture.run("echo out; echo err >&2; exit 3");
    expect(result).toMatchObject({ ended: "exit", exitCode: 3, signal: null });
    expect(result.stdout).toEqual({ head: "out\n", tail: "", bytes: 4, omitted: 0, truncated: false });
    expect(result.stderr.head).toBe("err\n");
  });

  it("by a signal, which is no exit code", async () => {
    expect(await fixture.run("kill -9 $$")).toMatchObject({
      ended: "exit",
      exitCode: null,
      signal: "SIGKILL",
    });
    expect(await fixture.run("exit 137")).toMatchObject({ ended: "exit", exitCode: 137, signal: null });
  });

  it("with 127 where there is no such program: that is a result, not a fault", async () => {
    const result = await fixture.run("no-such-program-anywhere", { environment: { PATH: "/usr/bin" } });
    expect(result.exitCode).toBe(127);
    expect(result.stderr.head).toContain("not found");
  });

  it("after its output was closed early", async () => {
    const result = await fixture.run("exec >&- 2>&-; sleep 0.2; exit 5");
    expect(result).toMatchObject({ ended: "exit", exitCode: 5 });
  });

  it("is not started with a NUL, nothing, or too much as its text", async () => {
    await expect(fixture.run("echo a\0b")).rejects.toMatchObject({
      code: "invalid_command",
      data: { reason: "nul" },
    });
    await expect(fixture.run(" \n")).rejects.toMatchObject({ data: { reason: "empty" } });
    await expect(fixture.run(`echo ${"x".repeat(200_000)}`)).rejects.toMatchObject({
      data: { reason: "too_long" },
    });
  });
});

describe("a command gets only what it is given", () => {
  it("an empty input: `cat` returns at once", async () => {
    expect(await fixture.run("cat")).toMatchObject({ ended: "exit", exitCode: 0, stdout: { bytes: 0 } });
  });

  it("no descriptors but its own three", async () => {
    const { stdout } = await fixture.run("ls /proc/self/fd");
    // Descriptors that the test runner inherited are not the command's (see the next test).
    const own = stdout.head
      .trim()
      .split("\n")
      .map(Number)
      .filter(fd => !inheritedDescriptors().includes(fd));
    expect(own.sort()).toEqual([0, 1, 2, 3]); // 3 is the listing itself
  });

  it("nor those that the server was started with, once the server has closed them", async () => {
    const program = join(fixture.base, "program.mjs");
    await build({
      stdin: {
        contents: `import { closeInherited, inheritedDescriptors } from "./inherited.ts";
          const before = inheritedDescriptors();
          closeInherited();
          console.log(JSON.stringify([before.includes(40), inheritedDescriptors()]));`,
        resolveDir: join(import.meta.dirname, "../../src/engine/workspace/system"),
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
    });
    const output = execFileSync("bash", [
      "-c",
      `exec 40</dev/null; exec "$0" "$1"`,
      process.execPath,
      program,
    ]);
    expect(JSON.parse(output.toString())).toEqual([true, []]);
  });

  it("none of the server's variables but those that programs need", async () => {
    process.env.POLYFS_TEST_TOKEN = "hidden";
    const { stdout } = await fixture.run("env");
    delete process.env.POLYFS_TEST_TOKEN;
    expect(stdout.head).toMatch(/^PATH=/m);
    expect(stdout.head).not.toContain("hidden");
    const own = await fixture.run("env", { environment: { PATH: "/usr/bin:/bin", ONLY: "this" } });
    expect(own.stdout.head).toMatch(/^ONLY=this$/m);
    expect(own.stdout.head).not.toMatch(/^HOME=/m);
  });

  it("the directory that was opened, though another has its name by now", async () => {
    mkdirSync(join(fixture.root, "sub"));
    using directory = fixture.workspace.directory(fixture.workspace.at("sub"));
    renameSync(join(fixture.root, "sub"), join(fixture.root, "moved"));
    symlinkSync(fixture.outside, join(fixture.root, "sub"));
    await run("touch here", { directory, keep: { head: 100, tail: 0 } });
    expect(readdirSync(join(fixture.root, "moved"))).toEqual(["here"]);
    expect(existsSync(join(fixture.outside, "here"))).toBe(false);
  });
});

describe("output", () => {
  it("keeps its beginning and its end, and counts what lies between", async () => {
    const { stdout } = await fixture.run("seq 1 100000", { keep: { head: 10, tail: 13 } });
    expect(stdout).toMatchObject({ head: "1\n2\n3\n4\n5\n", tail: "99999\n100000\n", truncated: true });
    expect(stdout.bytes).toBe(588_895);
    expect(stdout.omitted).toBe(588_895 - 23);
  });

  it("is given whole to the sink", async () => {
    let bytes = 0;
    const result = await fixture.run("seq 1 100000; seq 1 10 >&2", {
      keep: { head: 10, tail: 0 },
      sink: chunk => {
        bytes += chunk.length;
      },
    });
    expect(bytes).toBe(result.stdout.bytes + result.stderr.bytes);
  });

  it("waits for a slow sink instead of filling memory, and nothing of it is lost", async () => {
    let [bytes, open, most] = [0, 0, 0];
    const result = await fixture.run("seq 1 100000", {
      keep: { head: 0, tail: 0 },
      sink: async chunk => {
        most = Math.max(most, ++open);
        await new Promise(resolve => setTimeout(resolve, 60)); // longer than a silence
        open--;
        bytes += chunk.length;
      },
    });
    expect(result.stdout.bytes).toBe(588_895);
    expect([bytes, open, most]).toEqual([588_895, 0, 1]);
  });

  it("that the sink cannot take ends the command, and the call says why", async () => {
    const nap = odd();
    const sink = () => Promise.reject(new Error("full"));
    await expect(fixture.run(`echo; sleep ${nap}`, { sink })).rejects.toThrow("full");
    const throws = () => {
      throw new Error("broken");
    };
    await expect(fixture.run(`echo; sleep ${nap}`, { sink: throws })).rejects.toThrow("broken");
    expect(running(nap)).toEqual([]);
  });

  it("comes as one where that is asked for, in the order in which it was written", async () => {
    const command = "for i in 1 2 3 4 5 6 7 8 9; do echo out $i; echo err $i >&2; done";
    const { stdout, stderr } = await fixture.run(command, { merged: true });
    expect(stdout.head).toBe([1, 2, 3, 4, 5, 6, 7, 8, 9].map(i => `out ${i}\nerr ${i}\n`).join(""));
    expect(stderr.bytes).toBe(0);
    const broken = await fixture.run("echo 'unclosed", { merged: true });
    expect(broken.stdout.head).toMatch(/syntax|unterminated|unexpected/i);
  });

  it("that never ends stops the command at the ceiling", async () => {
    const result = await fixture.run("yes", { keep: { head: 1000, tail: 1000 }, ceiling: 3_000_001 });
    expect(result).toMatchObject({ ended: "output_limit", signal: "SIGKILL" });
    expect(result.stdout.bytes).toBe(3_000_001);
    expect(result.stdout.head).toBe("y\n".repeat(500));
  });

  it("that never ends is bounded by time alone where there is no ceiling", async () => {
    const result = await fixture.run("yes", { keep: { head: 10, tail: 10 }, timeoutMs: 2000 });
    expect(result).toMatchObject({ ended: "timeout", stdout: { head: "y\ny\ny\ny\ny\n", truncated: true } });
  });

  it("keeps characters whole that arrive in two pieces", async () => {
    const { stdout } = await fixture.run("printf '\\342\\202'; sleep 0.2; printf '\\254\\n'");
    expect(stdout.head).toBe("€\n");
  });

  it("is not cut within a character, neither at the head nor at the tail", async () => {
    const { stdout } = await fixture.run("printf '€€€€€€€€€€'", { keep: { head: 4, tail: 5 } });
    expect(stdout).toMatchObject({ head: "€", tail: "€", bytes: 30, omitted: 24 });
  });

  it("that is not UTF-8 is shown with marks", async () => {
    const { stdout } = await fixture.run("printf 'a\\377b\\300\\n'");
    expect(stdout.head).toBe("a\ufffdb\ufffd\n");
  });

  it("is streamed", async () => {
    const tails: string[] = [];
    // Each line is written when the one before it was told.
    await fixture.run("for i in 1 2 3; do echo line $i; until [ -e told$i ]; do sleep 0.02; done; done", {
      progress: {
        everyMs: 50,
        bytes: 7,
        tell: tail => {
          tails.push(tail);
          writeFileSync(join(fixture.root, `told${tails.length}`), "");
        },
      },
    });
    expect(tails.length).toBe(3);
    expect(new Set(tails).size).toBe(tails.length);
    for (const tail of tails) expect(tail).toMatch(/^line \d\n$/);
  });
});

describe("nothing remains", () => {
  it("of a command at its timeout: asked to end, it may still print something", async () => {
    const result = await fixture.run("trap 'echo bye; exit 9' TERM; while :; do sleep 0.05; done", {
      timeoutMs: 3000, // it has set its trap by then
    });
    expect(result).toMatchObject({ ended: "timeout", exitCode: 9, stdout: { head: "bye\n" } });
  });

  it("of a command that ignores the request", async () => {
    const nap = odd();
    const result = await fixture.run(`trap '' TERM; echo on; while :; do sleep ${nap}; done`, {
      timeoutMs: 3000, // it has set its trap by then
      graceMs: 200,
    });
    expect(result).toMatchObject({ ended: "timeout", signal: "SIGKILL", stdout: { head: "on\n" } });
    expect(running(nap)).toEqual([]);
  });

  it("of daemonised children: own session, no parent", async () => {
    const nap = odd();
    const result = await fixture.run(`(setsid sleep ${nap} &) ; setsid sh -c 'sleep ${nap}' & sleep ${nap}`, {
      timeoutMs: 300,
      graceMs: 100,
    });
    expect(result.ended).toBe("timeout");
    expect(running(nap)).toEqual([]);
  });

  it("of a command that is cancelled, nor of its children", async () => {
    const nap = odd();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const result = await fixture.run(`setsid sleep ${nap} & sleep ${nap}`, { signal: controller.signal });
    expect(result).toMatchObject({ ended: "cancel", signal: "SIGKILL" });
    expect(running(nap)).toEqual([]);
  });

  it("and nothing starts if it was cancelled before", async () => {
    const result = await fixture.run("touch made", { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ ended: "cancel", exitCode: null });
    expect(existsSync(join(fixture.root, "made"))).toBe(false);
  });

  it("of what a command left in the background when it ended by itself", async () => {
    const nap = odd();
    const result = await fixture.run(`sleep ${nap} & setsid sleep ${nap} & echo done`);
    expect(result).toMatchObject({ ended: "exit", exitCode: 0, stdout: { head: "done\n" } });
    expect(running(nap)).toEqual([]);
  });

  it("unless that is allowed; the open pipe does not block the call", async () => {
    const nap = odd();
    const result = await fixture.run(`(sleep 0.3; echo late; touch alive; exec sleep ${nap}) & echo done`, {
      leftovers: "keep",
      timeoutMs: 20_000,
    });
    expect(result).toMatchObject({ ended: "exit", exitCode: 0, stdout: { head: "done\n" } });
    // It writes into a pipe without a reader, and lives on.
    while (!existsSync(join(fixture.root, "alive"))) await new Promise(resolve => setTimeout(resolve, 20));
    expect(running(nap).length).toBe(1);
    end(nap);
  });

  it("what is allowed to stay uses its caller's grant until it ends, and ends with it", async () => {
    const nap = odd();
    const grants = [grant(), grant()] as const;
    await expect.poll(runningCommands).toBe(0);
    for (const one of grants)
      await fixture.run(`sleep ${nap} & echo done`, { leftovers: "keep", grant: one });
    expect([running(nap).length, runningCommands()]).toEqual([2, 2]);
    expect(grants.map(({ uses }) => uses)).toEqual([1, 1]);
    grants[0].ended = true;
    await expect.poll(() => grants.map(({ uses }) => uses)).toEqual([0, 1]);
    expect([running(nap).length, runningCommands()]).toEqual([1, 1]);
    end(nap);
    await expect.poll(() => [grants[1].uses, runningCommands()]).toEqual([0, 0]);
  });

  it("what is allowed to stay does not keep the output of the answered command in memory", async () => {
    const last = `
      let sink = () => {};
      const reference = new WeakRef(sink);
      await run("sleep ${odd()} & echo done", { directory, keep: { head: 0, tail: 0 }, leftovers: "keep", sink });
      sink = undefined;
      await setTimeout(100);
      gc();
      console.log(JSON.stringify([reference.deref() === undefined, runningCommands()]));
      process.exit();`;
    expect(await outputOf(last, `exec "$0" --expose-gc "$1"`)).toEqual([true, 1]);
  });

  it("what is allowed to stay lives on in the eyes of a server that has run out of descriptors", async () => {
    const nap = odd();
    const last = `
      const released = [];
      const sandbox = { launch: (command, _, environment) => ({
        program: "/bin/sh",
        args: ["-c", 'sleep ${nap} 3>&- & printf "{ \\\\"child-pid\\\\": $!, \\\\"exit-code\\\\": 0 }" >&3; exec 3>&-'],
        environment, warden: true, release: () => released.push("released"),
      }) };
      await run("true", { directory, keep: { head: 10, tail: 0 }, leftovers: "keep", sandbox });
      const held = [];
      try { for (;;) held.push(openSync("/dev/null", "r")); } catch {}
      await setTimeout(1500);
      for (const fd of held) closeSync(fd);
      console.log(JSON.stringify([released, runningCommands()]));
      process.exit();`;
    expect(await outputOf(last, 'ulimit -n 96; exec "$0" "$1"')).toEqual([[], 1]);
    await expect.poll(() => running(nap)).toEqual([]);
  });
});

/** What a program of its own, started by \`line\`, says. */
async function outputOf(last: string, line: string): Promise<unknown> {
  const outfile = join(fixture.base, "server.mjs");
  const contents = `
    import { openSync, closeSync } from "node:fs";
    import { setTimeout } from "node:timers/promises";
    import { runningCommands } from "./living.ts";
    import { run } from "./run.ts";
    import { Workspace } from "../workspace/workspace.ts";
    const workspace = Workspace.open([{ path: ${JSON.stringify(fixture.root)}, access: "read-write" }]);
    const directory = workspace.directory(workspace.at("."));
    ${last}`;
  const resolveDir = join(import.meta.dirname, "../../src/engine/shell");
  const program = { stdin: { contents, resolveDir }, outfile, bundle: true, platform: "node" } as const;
  await build({ ...program, format: "esm", target: "node20" });
  const given = ["-c", line, process.execPath, outfile];
  return JSON.parse(execFileSync("/bin/sh", given, { timeout: 60_000 }).toString());
}

/** The grant of a caller, with how often it is in use. */
function grant() {
  return {
    ended: false,
    uses: 0,
    use(): Disposable {
      this.uses++;
      return { [Symbol.dispose]: () => void this.uses-- };
    },
  };
}
