// What commands write in node_modules and the like stays on its replica. A tool can move it out, or copy it: then it is
// a change like any other, and the others need what was moved.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Change } from "../../src/engine/workspace/commit/change.ts";
import { Fixture } from "./fixture.ts";

it("what is moved or copied out of a directory that is not shared arrives everywhere, and stays", async () => {
  await using fixture = new Fixture();
  const a = await fixture.machine("a", { f: "f\n" });
  const b = await fixture.machine("b");
  for (const name of ["m", "n", "left"]) {
    mkdirSync(join(a.root, "node_modules", name, "lib"), { recursive: true });
    writeFileSync(join(a.root, "node_modules", name, "lib/i.js"), `${name}\n`);
  }
  const at = (path: string) => a.workspace.at(path);
  const changes: Change[] = [
    { kind: "move", from: at("node_modules/m"), to: at("lib/m") },
    { kind: "copy", from: at("node_modules/n"), to: at("lib/n") },
    { kind: "copy", from: at("node_modules/n/lib/i.js"), to: at("i.js") },
  ];
  for (const change of changes) await a.workspace.commit([change], { parents: true });
  await b.replica.refresh("reads");
  const expected = { "lib/m/lib/i.js": "644 m\n", "lib/n/lib/i.js": "644 n\n", "i.js": "644 n\n" };
  expect(b.tree()).toMatchObject(expected);
  expect(b.tree()).not.toHaveProperty("node_modules/left");
  await a.replica[Symbol.asyncDispose]();
  const again = (await fixture.machine("a")).tree();
  expect(again).toMatchObject({ ...expected, "node_modules/left/lib/i.js": "644 left\n" });
});
