// Links are spliced by us, as the kernel would do it, but for those that are in procfs.
import { spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { hasProc } from "../setup/proc.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-links-")));
  for (const place of ["root/a/b/c/d", "other/sub", "outside"])
    mkdirSync(join(base, place), { recursive: true });
  for (const place of ["root", "root/a", "root/a/b", "root/a/b/c/d", "other/sub", "outside"])
    writeFileSync(join(base, place, "f"), place);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function open(...names: string[]): Workspace {
  return Workspace.open(names.map(name => ({ path: join(base, name), access: "read-write" as const })));
}

/** What is read at a path, or the code of the fault. */
function read(workspace: Workspace, path: string): string {
  try {
    using file = workspace.file(workspace.at(path));
    return file.readNow(0, 100).toString();
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

describe("a link is followed as the kernel follows it", () => {
  // Where each leads, and what a plain read says: the kernel is the judge wherever the target is in a root.
  const targets = [
    "f",
    "./a//f",
    "a/b/../f",
    "a/../a/b/c/../../f",
    "../root/f",
    "../root/a/../f",
    "../outside/../root/f",
    "../to-root/a/f",
    "../to-deep/../f",
    "{base}/root/a/f",
    "{base}/to-root/a/f",
    "{base}/root/../to-root/./a/b/f",
    "../other/sub/f",
    "../other/sub/../sub/f",
    "{base}/other/sub/f",
    "deep/../f",
    "deep/f",
    "nothing",
    "a/nothing",
    "f/x",
  ];
  it.each(targets)("to %s", target => {
    symlinkSync("root", join(base, "to-root"));
    symlinkSync("root/a/b/c", join(base, "to-deep"));
    symlinkSync("a/b/c/d", join(base, "root/deep"));
    const link = target.replace("{base}", base);
    symlinkSync(link, join(base, "root/link"));
    mkdirSync(join(base, "root/p/q/r"), { recursive: true });
    symlinkSync(link.startsWith("/") ? link : `../../../${link}`, join(base, "root/p/q/r/link"));
    using workspace = open("root", "other");
    for (const path of ["link", "p/q/r/link"]) {
      let expected: string | undefined;
      try {
        expected = readFileSync(join(base, "root", path), "utf8");
      } catch {}
      const found = read(workspace, path);
      if (expected === undefined) expect(found).toMatch(/^(not_found|not_a_directory)$/);
      else expect(found).toBe(expected);
    }
  });

  it("to a file that is not there yet, in another root", async () => {
    symlinkSync("../other/sub/new", join(base, "root/link"));
    using workspace = open("root", "other");
    await workspace.commit([{ kind: "write", path: workspace.at("link"), bytes: Buffer.from("new") }]);
    expect(readFileSync(join(base, "other/sub/new"), "utf8")).toBe("new");
  });
});

describe.runIf(process.platform === "linux")("a link is refused", () => {
  it.runIf(hasProc)("where it leads through /proc, even to a file in the root", () => {
    symlinkSync(`/proc/self/root${base}/root/a/f`, join(base, "root/link"));
    symlinkSync(`/proc/self/root${base}/root/a`, join(base, "root/directory"));
    using workspace = open("root");
    expect(read(workspace, "link")).toBe("outside_roots");
    expect(read(workspace, "directory/b/c/d/f")).toBe("outside_roots");
    using whole = Workspace.open([{ path: "/", access: "read-only" }]);
    expect(read(whole, `/proc/self/root${base}/outside/f`)).toBe("outside_roots");
  });

  it("in the same way outside, whether or not the target exists", () => {
    symlinkSync("../outside/back", join(base, "root/link"));
    symlinkSync("../root/a", join(base, "outside/back"));
    symlinkSync("loop", join(base, "outside/loop"));
    symlinkSync("../outside/loop", join(base, "root/loop"));
    using workspace = open("root");
    expect(read(workspace, "link/f")).toBe("root/a");
    expect(read(workspace, "link/nothing")).toBe("outside_roots");
    expect(read(workspace, "loop")).toBe("outside_roots");
  });

  it("to the name that the kernel gives a deleted root", () => {
    mkdirSync(join(base, "gone"));
    using workspace = open("root", "gone");
    rmdirSync(join(base, "gone"));
    mkdirSync(join(base, "gone (deleted)"));
    writeFileSync(join(base, "gone (deleted)/f"), "SECRET");
    symlinkSync("../gone (deleted)", join(base, "root/link"));
    expect(read(workspace, "link/f")).toBe("outside_roots");
  });

  it("into another mount namespace, where the same path is another directory", async context => {
    const child = spawn(
      "unshare",
      [
        "-Urm",
        "sh",
        "-c",
        'mount --bind "$1" "$2" && echo mounted && exec sleep 600',
        "-",
        "outside",
        "root/a/b",
      ],
      { cwd: base, stdio: ["ignore", "pipe", "ignore"] },
    );
    const mounted = await new Promise<boolean>(resolve => {
      child.once("error", () => resolve(false)).once("exit", () => resolve(false));
      createInterface(child.stdout).once("line", () => resolve(true));
    });
    if (!mounted) return context.skip("mount namespaces are not permitted here");
    try {
      symlinkSync(`/proc/${child.pid}/root${base}/root/a/b`, join(base, "root/link"));
      symlinkSync(`/proc/${child.pid}/root${base}/root/a`, join(base, "root/up"));
      expect(readFileSync(join(base, "root/link/f"), "utf8")).toBe("outside");
      using workspace = open("root");
      for (const path of ["link/f", "up/b/f", "up/f", "link"])
        expect(read(workspace, path)).toBe("outside_roots");
    } finally {
      child.kill("SIGKILL");
    }
  });
});

it("a directory whose real name looks like that of a deleted one is served", () => {
  mkdirSync(join(base, "x (deleted)"));
  writeFileSync(join(base, "x (deleted)/f"), "served");
  using workspace = open("x (deleted)", "root");
  expect(read(workspace, join(base, "x (deleted)/f"))).toBe("served");
});
