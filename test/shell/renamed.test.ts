// What the sandbox protects or hides stays so, whatever is renamed: by the command, in one command or several, or by
// somebody else in between.
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
import { Ground } from "./ground.ts";

const found = await findSandbox();
const missing = "missing" in found;
if (missing) console.warn("SKIPPED, renames in a sandbox: there is none");

let ground: Ground;
let hidden: HiddenPlaces;
beforeEach(() => {
  ground = new Ground();
  hidden = new HiddenPlaces([]);
});
afterEach(() => {
  hidden[Symbol.dispose]();
  ground[Symbol.dispose]();
});

function write(path: string, content: string): void {
  mkdirSync(join(ground.root, path, ".."), { recursive: true });
  writeFileSync(join(ground.root, path), content);
}

/** Hides some paths and grants others for reading only, in the one root that may be written. */
function protect({
  hide = [],
  readOnly = [],
}: {
  hide?: readonly string[];
  readOnly?: readonly string[];
}): void {
  hidden = new HiddenPlaces(hide.map(path => join(ground.root, path)));
  ground.grant([
    { path: ground.root, access: "read-write" },
    ...readOnly.map(path => ({ path: join(ground.root, path), access: "read-only" }) as const),
  ]);
}

async function outputOf(command: string): Promise<string> {
  const policy = { workspace: ground.workspace, network: false, hidden };
  const { stdout, stderr } = await ground.run(command, {
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
    expect(readFileSync(join(ground.root, "sub/deep/ro/file"), "utf8")).toBe("original");
  });

  it("does not uncover what is hidden", async () => {
    write(".config/gh/hosts.yml", ground.secret);
    write(".config/other", "plain\n");
    write(".netrc", ground.secret);
    protect({ hide: [".config/gh", ".netrc"] });
    expect(await outputOf("mv .config c2; mv .netrc n2; cat .config/other")).toContain("plain");
    expect(await outputOf("cat */gh/* .*/gh/* n2 .netrc; grep -r . .")).not.toContain(ground.secret);
  });

  it("works as ever on what lies beside it", async () => {
    write("sub/ro/file", "original");
    write("sub/other/file", "moved\n");
    protect({ readOnly: ["sub/ro"] });
    expect(await outputOf("mv sub/other sub/renamed && mv sub/renamed . && cat renamed/file")).toBe(
      "moved\n",
    );
    expect(existsSync(join(ground.root, "renamed/file"))).toBe(true);
  });
});

describe.skipIf(missing)("what others rename between two commands", () => {
  it("stays hidden and read-only in its new place", async () => {
    write("sub/ro/file", "original");
    write(".config/gh/token", ground.secret);
    protect({ hide: [".config/gh"], readOnly: ["sub/ro"] });
    renameSync(join(ground.root, "sub"), join(ground.root, "elsewhere"));
    renameSync(join(ground.root, ".config"), join(ground.root, "elsewhere/c"));
    const output = await outputOf("grep -r . . ; echo pwned > elsewhere/ro/file; ls");
    expect(output).not.toContain(ground.secret);
    expect(output).toMatch(/Read-only/);
    expect(output).toContain("\nelsewhere\npub.txt\n");
    expect(readdirSync(ground.root).sort()).toEqual(["elsewhere", "pub.txt"]);
  });

  it("is hidden also where a new file has taken the place of the old one", async () => {
    write(".netrc", "old");
    protect({ hide: [".netrc"] });
    write("n2", ground.secret);
    renameSync(join(ground.root, "n2"), join(ground.root, ".netrc"));
    expect(await outputOf("cat .netrc; ls -A")).not.toContain(ground.secret);
  });

  it("is not mounted from elsewhere by a link that took its parent's place", async () => {
    write("sub/ro/file", "original");
    protect({ readOnly: ["sub/ro"] });
    renameSync(join(ground.root, "sub"), join(ground.root, "kept"));
    symlinkSync(ground.outside, join(ground.root, "sub"));
    expect(await outputOf("cat sub/secret.txt kept/ro/file; touch sub/x")).not.toContain(ground.secret);
    expect(readdirSync(ground.outside)).toEqual(["secret.txt"]);
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
      write(`${way("a")}/secret/token`, ground.secret);
      write(`${way("b")}/ro/file`, "original");
      protect({ hide: [`${way("a")}/secret`], readOnly: [`${way("b")}/ro`] });
      const kept = ground.workspace.roots[1];
      for (let step = 0; step < 3; step++) {
        const top = readdirSync(ground.root).filter(name => statSync(join(ground.root, name)).isDirectory());
        const [from, into] = [top[chance(top.length)] ?? "", top[chance(top.length)] ?? ""];
        if (chance(2) === 0) renameSync(join(ground.root, from), join(ground.root, `r${round}${step}`));
        else if (from !== into)
          renameSync(join(ground.root, from), join(ground.root, into, `r${round}${step}`));
        const output = await outputOf(
          "find . -depth -type d ! -name . | while read d; do mv $d $d.x 2>/dev/null && mv $d.x $d; done; " +
            "find . -type d -name ro -exec mv {} ./taken \\; ; find . -name file -exec sh -c 'echo pwned > $1' sh {} \\; ; " +
            "find . -name file -delete; grep -r . .",
        );
        expect(output, `round ${round}.${step}`).not.toContain(ground.secret);
        expect(readFileSync(join(kept?.handle.address ?? "", "file"), "utf8")).toBe("original");
      }
      for (const name of readdirSync(ground.root)) rmSync(join(ground.root, name), { recursive: true });
    }
  });
});
