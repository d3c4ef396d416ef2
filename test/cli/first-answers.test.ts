// What a start loads of Node's own modules: not those that take milliseconds and that the first answers do without;
// and what it loads afterwards, while the client is quiet.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { start } from "../mcp/wire.ts";
import { tree } from "./program.ts";

const heavy = ["crypto", "child_process"];

/** Starts a server that tells on standard error which of the heavy modules are loaded: when it has answered, and
 *  once all of them are. */
async function watched() {
  const root = tree("project");
  const spy = join(root, "spy.cjs");
  writeFileSync(
    spy,
    `const loaded = () => ${JSON.stringify(heavy)}.filter(name => process.moduleLoadList.includes("NativeModule " + name));
    const { stdout } = process, { write } = stdout;
    stdout.write = function (...args) {
      process.stderr.write("answered with [" + loaded() + "]\\n");
      return write.apply(this, args);
    };
    const timer = setInterval(() => {
      if (loaded().length < ${heavy.length}) return;
      clearInterval(timer);
      process.stderr.write("all loaded\\n");
    }, 10).unref();`,
  );
  return start({
    roots: [join(root, "project")],
    args: ["--state-dir", join(root, "state")], // in a shared one, it would recover what other tests have killed
    env: { NODE_OPTIONS: `--require "${spy.replaceAll("\\", "/")}"` },
  });
}

it("the first answers load none of the slow modules", async () => {
  await using wire = await watched();
  await wire.initialize();
  await wire.request("tools/list");
  await wire.said("answered");
  expect(wire.stderr).toMatch(/^(\S+ polyfs info: started .*\n)?(answered with \[\]\n)+/);
});

it("a quiet server has loaded what the first calls need before they come", async () => {
  await using wire = await watched();
  await wire.initialize();
  await wire.request("tools/list");
  await wire.said("all loaded");
});

it("a server without requests loads nothing", async () => {
  await using wire = await watched();
  await new Promise(resolve => setTimeout(resolve, 1000));
  expect(wire.stderr).toMatch(/^(\S+ polyfs info: started at stdio .*\n)?$/);
});
