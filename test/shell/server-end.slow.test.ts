// The server ends, in whatever way: no command outlives it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { build } from "esbuild";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findSandbox } from "../../src/engine/shell/sandbox.ts";
import { Fixture, odd, running } from "./fixture.ts";

const found = await findSandbox();
if ("missing" in found) console.warn(`SKIPPED, a killed server's commands: ${found.missing}`);

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
});
afterEach(() => fixture[Symbol.dispose]());

/** A program of its own that runs `command` and then does `last`. It is given back when the command has begun. */
async function server(command: string, last: string, confined: boolean): Promise<ChildProcess> {
  const outfile = join(fixture.base, "server.mjs");
  const contents = `
    import { run } from "./run.ts";
    import { openSandbox } from "./sandbox.ts";
    import { Workspace } from "../workspace/workspace.ts";
    const workspace = Workspace.open([{ path: ${JSON.stringify(fixture.root)}, access: "read-write" }]);
    const directory = workspace.directory(workspace.at("."));
    const found = ${JSON.stringify(found)};
    const sandbox = ${confined} ? openSandbox(found, { workspace, network: false }) : undefined;
    const sink = () => { console.log("begun"); ${last} };
    await run(${JSON.stringify(command)}, { directory, keep: { head: 10, tail: 0 }, sink, sandbox });`;
  const resolveDir = join(import.meta.dirname, "../../src/engine/shell");
  const target = "node20";
  await build({
    stdin: { contents, resolveDir },
    bundle: true,
    platform: "node",
    format: "esm",
    target,
    outfile,
  });
  const child = spawn(process.execPath, [outfile], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

/** Resolves when nothing with `text` runs any more; the test's own time is the limit. */
async function gone(text: string): Promise<void> {
  while (running(text).length > 0) await new Promise(resolve => setTimeout(resolve, 20));
}

describe("no command outlives the server", () => {
  it("that exits by itself", async () => {
    const nap = odd();
    const child = await server(`setsid sleep ${nap} & echo; sleep ${nap}`, "process.exit(1)", false);
    await once(child, "exit");
    await gone(nap);
  });

  it("that is killed, neither those in its group nor those that left it", async () => {
    const nap = odd();
    const child = await server(`setsid sleep ${nap} & echo; sleep ${nap}`, "", false);
    expect(running(nap).length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "exit");
    await gone(nap);
  });

  it.skipIf("missing" in found)("that is killed, where commands are confined", async () => {
    const nap = odd();
    const child = await server(`env -i setsid sleep ${nap} & echo; sleep ${nap}`, "", true);
    expect(running(nap).length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "exit");
    await gone(nap);
  });
});
