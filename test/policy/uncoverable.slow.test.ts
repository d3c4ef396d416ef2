// Rules about more, or about deeper or stranger paths, than the sandbox can cover one by one.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import { run } from "../../src/engine/shell/run.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const found = await findSandbox();

let base: string;
let root: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-uncoverable-"));
  root = join(base, "root");
  mkdirSync(join(root, "sub"), { recursive: true });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open(): Workspace {
  const policies = [new Policy([{ paths: [".env", "*.env"], access: "mask" }])];
  return Workspace.open([{ path: root, access: "read-write" }], {
    state: join(base, "state"),
    rules: { current: () => policies },
  });
}

async function inSandbox(workspace: Workspace, command: string): Promise<string> {
  if ("missing" in found) return "";
  using directory = workspace.directory(workspace.at("."));
  const { stdout, stderr } = await run(command, {
    directory,
    sandbox: openSandbox(found, { workspace, network: false }),
    environment: { PATH: process.env.PATH ?? "" },
    keep: { head: 10_000, tail: 0 },
    timeoutMs: 50_000,
  });
  return stdout.head + stderr.head;
}

describe.skipIf("missing" in found)("a denied path that the sandbox cannot cover", () => {
  it("is covered together with a directory above it if no path reaches it, and can be deleted", async () => {
    using workspace = open();
    const name = "d".repeat(200);
    const make = `for i in $(seq 30); do mkdir ${name} && cd -P ${name} || exit; done; echo TOKEN=CANARY > .env; cat .env`;
    expect(await inSandbox(workspace, make)).toContain("CANARY");
    const look = `for i in $(seq 30); do cd -P ${name} || break; done; cat .env; echo done`;
    const seen = await inSandbox(workspace, look);
    expect(seen).toContain("done");
    expect(seen).not.toContain("CANARY");
    const removal = { kind: "remove", path: workspace.at(name), recursive: true } as const;
    await workspace.commit([removal], { irrevocable: "allow" });
    expect(existsSync(join(root, name))).toBe(false);
    await workspace.settled();
  });
  it("is reported if there are too many", async () => {
    for (let i = 0; i < 3100; i++) writeFileSync(join(root, `sub/${i}.env`), "");
    using workspace = open();
    const refused = await inSandbox(workspace, "true").catch((error: unknown) => error);
    expect(Fault.is(refused, "no_sandbox") && refused.data).toMatchObject({
      problem: { is: "too_many_paths" },
    });
  });
  it("is reported if its name is not UTF-8", async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/\xff`, "latin1"), Buffer.from(".env")]), "");
    using workspace = open();
    const refused = await inSandbox(workspace, "true").catch((error: unknown) => error);
    expect(Fault.is(refused, "no_sandbox") && refused.data).toMatchObject({ problem: { is: "no_unicode" } });
  });
});
