// A command in the sandbox sees and changes what the tools do, also where roots lie in one another, and where something
// is hidden for more than one reason.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { PolicyRule } from "../../src/engine/policy/rule.ts";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import type { SandboxFound } from "../../src/engine/shell/policy.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import type { Access } from "../../src/engine/workspace/root.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Fixture } from "../shell/fixture.ts";

const found = await findSandbox();
const missing = "missing" in found;
if (missing) console.warn("SKIPPED, nested roots in a sandbox: there is none");

const files = [
  "a/plain",
  "a/secret/f",
  "a/in/plain",
  "a/in/secret/f",
  "a/in/kept/f",
  "a/in/kept/free/f",
  "a/in/.env",
];
const secret = "KEY=SECRET-VALUE\n";

const policies: Readonly<Record<string, readonly PolicyRule[]>> = {
  "rules by name": [
    { paths: ["secret"], access: "deny" },
    { paths: [".env"], access: "mask" },
    { paths: ["kept"], access: "read" },
  ],
  "a rule that frees something in what another one protects": [
    { paths: ["**/in/**"], access: "read" },
    { paths: ["**/kept/free/**"], access: "write" },
    { paths: ["**/secret/**"], access: "deny" },
  ],
};

const arrangements: readonly (readonly (readonly [string, Access])[])[] = [
  [["", "read-write"]],
  [
    ["", "read-write"],
    ["a/in", "read-write"],
  ],
  [
    ["a/in", "read-only"],
    ["", "read-write"],
  ],
  [
    ["", "read-only"],
    ["a/in", "read-write"],
  ],
  [
    ["", "read-write"],
    ["a", "read-only"],
    ["a/in", "read-write"],
    ["a/in/kept", "read-only"],
  ],
];

let fixture: Fixture;
beforeEach(() => {
  fixture = new Fixture();
  for (const file of files) {
    mkdirSync(join(fixture.root, file, ".."), { recursive: true });
    writeFileSync(join(fixture.root, file), secret);
  }
});
afterEach(() => fixture[Symbol.dispose]());

function open(roots: readonly (readonly [string, Access])[], rules: readonly PolicyRule[]): void {
  const policies = [new Policy(rules)];
  fixture.workspace[Symbol.dispose]();
  fixture.workspace = Workspace.open(
    roots.map(([path, access]) => ({ path: join(fixture.root, path), access })),
    { rules: { current: () => policies } },
  );
}

async function outputOf(command: string, hidden: HiddenPlaces): Promise<string> {
  const policy = { workspace: fixture.workspace, network: false, hidden };
  const sandbox = openSandbox(found as SandboxFound, policy);
  const { stdout } = await fixture.run(command, { sandbox });
  return stdout.head;
}

describe.skipIf(missing)("a command where roots lie in one another", () => {
  for (const [name, rules] of Object.entries(policies))
    for (const roots of arrangements)
      it(`sees and changes what the tools do: ${name}; ${roots.map(one => one.join(" ")).join(", ")}`, async () => {
        open(roots, rules);
        using hidden = new HiddenPlaces([]);
        const reads = files.map(file => `echo '${file}:' $(cat '${file}' 2>/dev/null)`);
        const writes = files.map(file => `echo written 2>/dev/null >'${file}'`);
        const seen = await outputOf(`cd '${fixture.root}'; ${[...reads, ...writes].join("\n")}`, hidden);
        for (const file of files) {
          const path = join(fixture.root, file);
          const { root } = fixture.workspace.at(path);
          const { contents, changes } = root.rules.decide(path);
          const mayChange = root.access === "read-write" && contents === "full" && changes;
          expect(seen.includes(`${file}: KEY=SECRET-VALUE\n`), `${file} is read`).toBe(contents === "full");
          expect(readFileSync(path, "utf8"), `${file} is changed`).toBe(mayChange ? "written\n" : secret);
        }
      });

  it("does not see what is hidden from all commands and by a rule, or twice by rules", async () => {
    open(
      [
        ["", "read-write"],
        ["a/in", "read-write"],
      ],
      policies["rules by name"] ?? [],
    );
    using hidden = new HiddenPlaces(
      ["a/secret", "a/in/secret", "a/in/secret/f", "a/in/.env"].map(path => join(fixture.root, path)),
    );
    const seen = await outputOf(`cat '${fixture.root}'/a/secret/f '${fixture.root}'/a/in/secret/f`, hidden);
    expect(seen).toBe("");
    expect(
      await outputOf(`cat '${fixture.root}'/a/in/.env; grep -r SECRET '${fixture.root}'`, hidden),
    ).not.toMatch(/secret\/f|\.env:|^KEY/m);
  });
});
