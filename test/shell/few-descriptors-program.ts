// Edits a file again and again with all descriptors of the process in use but so many, and reports the result.
import { closeSync, openSync } from "node:fs";
import { openEngine } from "../../src/engine/engine.ts";
import { Fault } from "../../src/engine/fault.ts";

const [root = "", state = ""] = process.argv.slice(2);
using engine = openEngine({ roots: [{ path: root, access: "read-write" }], state });
const { workspace } = engine;
for (let left = 0; left < 40; left++) {
  const held = allDescriptors();
  for (const fd of held.splice(0, left)) closeSync(fd);
  try {
    await workspace.edit(workspace.at("file"), () => Buffer.from(`with ${left}`));
  } catch (error) {
    console.log(error instanceof Fault ? error.code : error);
  }
  for (const fd of held) closeSync(fd);
}

function allDescriptors(): number[] {
  const held: number[] = [];
  try {
    for (;;) held.push(openSync("/dev/null", "r"));
  } catch {
    return held;
  }
}
