import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { announceSandbox } from "../../src/engine/workspace/footprint/running-commands.ts";
import { claim } from "../../src/engine/workspace/system/claim.ts";
import { byDescriptor } from "../../src/engine/workspace/system/descriptors.ts";
import { bundle } from "./bundle.ts";
import { Fixture } from "./fixture.ts";

let questions: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  questions = await bundle("questions.ts");
});

afterAll(() => questions[Symbol.dispose]());

interface Answers {
  readonly name: string;
  readonly plenty: string;
  readonly few: readonly string[];
  readonly after: string;
}

function answers(base: string): Answers[] {
  const limited = `ulimit -n 96; exec "$0" "$@"`;
  const args = ["-c", limited, process.execPath, questions.path, base];
  const { stdout, stderr } = spawnSync("sh", args, { encoding: "utf8" });
  expect(stderr).toBe("");
  return stdout
    .trim()
    .split("\n")
    .map(line => JSON.parse(line) as Answers);
}

describe.skipIf(!byDescriptor)("a process that runs out of descriptors", () => {
  it("fails, or answers as with plenty of them: nothing is taken for absent, empty, free or unchanged", async () => {
    using fixture = new Fixture({ "d/.env": "KEY=1", "d/e/f": "text", "d/.gitignore": "out\n", "d/out": "" });
    await fixture.commit([fixture.write("a", "new")]);
    await fixture.workspace.settled();
    for (const name of ["claims", "secret"]) mkdirSync(join(fixture.base, name));
    mkdirSync(join(fixture.state, "sandboxes"), { recursive: true });
    cpSync(fixture.inside, join(fixture.base, "copy"), { recursive: true });
    writeFileSync(join(fixture.base, "watched"), "tokens");
    using _held = claim(join(fixture.base, "claims"), "tree");
    using _shown = announceSandbox(join(fixture.state, "sandboxes"), {
      roots: [fixture.inside],
      shown: [],
    });
    const all = answers(fixture.base);
    const wrong = all.flatMap(({ name, plenty, few, after }) =>
      [...few.filter(one => !one.startsWith("failed: ")), after]
        .filter(one => one !== plenty)
        .map(one => `${name}: ${one} instead of ${plenty}`),
    );
    expect(all.length).toBeGreaterThan(12);
    expect(all.filter(({ plenty }) => plenty.startsWith("failed"))).toEqual([]);
    expect(all.filter(({ few }) => !few.some(one => one.startsWith("failed: ")))).toEqual([]);
    expect(wrong).toEqual([]);
  });
});
