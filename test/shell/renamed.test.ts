// What the sandbox protects or hides stays so, whatever is renamed: by the command, in one command or several, or by
// another program in between.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import type { SandboxFound } from "../../src/engine/shell/policy.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import { Fixture } from "./fixture.ts";

const found = await findSandbox();
const missing = "missing" in found;
if (missing) console.warn("SKIPPED, renames in a sandbox: there is none");

let fixture: Fixture;
let hidden: HiddenPlaces;
beforeEach(() => {
  fixture = new Fixture();
  hidden = new HiddenPlaces([]);
});
afterEach(() => {
  hidden[Symbol.dispose]();
  fixture[Symbol.dispose]();
});

function write(path: string, content: string): void {
  mkdirSync(join(fixture.root, path, ".."), { recursive: true });
  writeFileSync(join(fixture.root, path), content);
}

/** Hides some paths and grants others for reading only, in the one root that may be written. */
function protect({
  hide = [],
  readOnly = [],
}: {
  hide?: readonly string[];
  readOnly?: readonly string[];
}): void {
  hidden = new HiddenPlaces(hide.map(path => join(fixture.root, path)));
  fixture.grant([
    { path: fixture.root, access: "read-write" },
    ...readOnly.map(path => ({ path: join(fixture.root, path), access: "read-only" }) as const),
  ]);
}

async function outputOf(command: string): Promise<string> {
  const policy = { workspace: fixture.workspace, network: false, hidden };
  const { stdout, stderr } = await fixture.run(command, {
    sandbox: openSandbox(found as SandboxFound, policy),
  });
  return stdout.head + stderr.head;
}

describe.skipIf(missing)("a command that renames directories", () => {
  it("does not get at a read-only root by moving what is above it, now or with the next command", async () => {
    write("sub/deep/ro/file", "original");
    protect({ readOnly: ["sub/deep/ro"] });
    expect(await outputOf("mv sub moved; mv sub/deep sub/d2; echo x > sub/deep/ro/file")).toMatch(/busy/);
    await outputOf("for f in */*/ro/file */ro/file; do echo pwned > $f; done; rm -rf sub");
    expect(readFileSync(join(fixture.root, "sub/deep/ro/file"), "utf8")).toBe("original");
  });

  it("does not uncover what is hidden", async () => {
    write(".config/gh/hosts.yml", fixture.secret);
    write(".config/other", "plain\n");
    write(".netrc", fixture.secret);
    protect({ hide: [".config/gh", ".netrc"] });
    expect(await outputOf("mv .config c2; mv .netrc n2; cat .config/other")).toContain("plain");
    expect(await outputOf("cat */gh/* .*/gh/* n2 .netrc; grep -r . .")).not.toContain(fixture.secret);
  });

  it("works as usual on the files beside it", async () => {
    write("sub/ro/file", "original");
    write("sub/other/file", "moved\n");
    protect({ readOnly: ["sub/ro"] });
    expect(await outputOf("mv sub/other sub/renamed && mv sub/renamed . && cat renamed/file")).toBe(
      "moved\n",
    );
    expect(existsSync(join(fixture.root, "renamed/file"))).toBe(true);
  });
});

describe.skipIf(missing)("what others rename between two commands", () => {
  it("stays hidden and read-only in its new place", async () => {
    write("sub/ro/file", "original");
    write(".config/gh/token", fixture.secret);
    protect({ hide: [".config/gh"], readOnly: ["sub/ro"] });
    renameSync(join(fixture.root, "sub"), join(fixture.root, "elsewhere"));
    renameSync(join(fixture.root, ".config"), join(fixture.root, "elsewhere/c"));
    const output = await outputOf("grep -r . . ; echo pwned > elsewhere/ro/file; ls");
    expect(output).not.toContain(fixture.secret);
    expect(output).toMatch(/Read-only/);
    expect(output).toContain("\nelsewhere\npub.txt\n");
    expect(readdirSync(fixture.root).sort()).toEqual(["elsewhere", "pub.txt"]);
  });

  it("is hidden also where a new file has taken the place of the old one", async () => {
    write(".netrc", "old");
    protect({ hide: [".netrc"] });
    write("n2", fixture.secret);
    renameSync(join(fixture.root, "n2"), join(fixture.root, ".netrc"));
    expect(await outputOf("cat .netrc; ls -A")).not.toContain(fixture.secret);
  });

  it("is not mounted from elsewhere by a link that took its parent's place", async () => {
    write("sub/ro/file", "original");
    protect({ readOnly: ["sub/ro"] });
    renameSync(join(fixture.root, "sub"), join(fixture.root, "kept"));
    symlinkSync(fixture.outside, join(fixture.root, "sub"));
    expect(await outputOf("cat sub/secret.txt kept/ro/file; touch sub/x")).not.toContain(fixture.secret);
    expect(readdirSync(fixture.outside)).toEqual(["secret.txt"]);
  });

  it("holds for any tree and any renames", async () => {
    let seed = 12345;
    const chance = (below: number) => {
      seed = (seed * 1103515245 + 12345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * below);
    };
    for (let round = 0; round < 6; round++) {
      const depth = 1 + chance(4);
      const way = (name: string) => [...Array(depth).keys()].map(i => `${name}${round}${i % 2}`).join("/");
      write(`${way("a")}/secret/token`, fixture.secret);
      write(`${way("b")}/ro/file`, "original");
      protect({ hide: [`${way("a")}/secret`], readOnly: [`${way("b")}/ro`] });
      const kept = fixture.workspace.roots[1];
      for (let step = 0; step < 3; step++) {
        const top = readdirSync(fixture.root).filter(name =>
          statSync(join(fixture.root, name)).isDirectory(),
        );
        const [from, into] = [top[chance(top.length)] ?? "", top[chance(top.length)] ?? ""];
        if (chance(2) === 0) renameSync(join(fixture.root, from), join(fixture.root, `r${round}${step}`));
        else if (from !== into)
          renameSync(join(fixture.root, from), join(fixture.root, into, `r${round}${step}`));
        const output = await outputOf(
          "find . -depth -type d ! -name . | while read d; do mv $d $d.x 2>/dev/null && mv $d.x $d; done; " +
            "find . -type d -name ro -exec mv {} ./taken \\; ; find . -name file -exec sh -c 'echo pwned > $1' sh {} \\; ; " +
            "find . -name file -delete; grep -r . .",
        );
        expect(output, `round ${round}.${step}`).not.toContain(fixture.secret);
        expect(readFileSync(join(kept?.handle.address ?? "", "file"), "utf8")).toBe("original");
      }
      for (const name of readdirSync(fixture.root)) rmSync(join(fixture.root, name), { recursive: true });
    }
  });
});
