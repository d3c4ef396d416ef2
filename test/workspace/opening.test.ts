// Opening by path: what is found, what is refused, and who decides.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Fault, type FaultCode } from "../../src/engine/fault.ts";
import type { Grant } from "../../src/engine/workspace/grant.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { hasProc } from "../setup/proc.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-open-"));
  mkdirSync(join(base, "root/sub/deep"), { recursive: true });
  mkdirSync(join(base, "outside"));
  writeFileSync(join(base, "root/a.txt"), "A");
  writeFileSync(join(base, "root/sub/b.txt"), "B");
  writeFileSync(join(base, "outside/secret.txt"), "SECRET");
});
afterEach(() => execFileSync("rm", ["-rf", base])); // deeper than rmSync can go

function open(...grants: (string | Grant)[]): Workspace {
  return Workspace.open(
    grants.map(grant =>
      typeof grant === "string" ? { path: join(base, grant), access: "read-write" } : grant,
    ),
  );
}

async function contentOf(workspace: Workspace, path: string): Promise<string> {
  using file = workspace.file(workspace.at(path));
  return (await file.bytes(1000)).toString();
}

function faultOf(action: () => unknown): FaultCode | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

describe("a path is found", () => {
  it("relative to the first root, absolute, and through links inside the root", async () => {
    symlinkSync("sub", join(base, "root/link"));
    symlinkSync(join(base, "root/sub/b.txt"), join(base, "root/absolute"));
    using workspace = open("root");
    expect(await contentOf(workspace, "sub/b.txt")).toBe("B");
    expect(await contentOf(workspace, join(base, "root/a.txt"))).toBe("A");
    expect(await contentOf(workspace, "link/b.txt")).toBe("B");
    expect(await contentOf(workspace, "absolute")).toBe("B");
    expect(await contentOf(workspace, "sub/../a.txt")).toBe("A");
  });

  it("when the root is a symlink, by either spelling, and by another name that leads there", async () => {
    symlinkSync("root", join(base, "alias"));
    symlinkSync(base, join(base, "outside/elsewhere"));
    using workspace = open("alias");
    expect(await contentOf(workspace, "a.txt")).toBe("A");
    expect(await contentOf(workspace, join(base, "alias/sub/b.txt"))).toBe("B");
    expect(await contentOf(workspace, join(base, "root/sub/b.txt"))).toBe("B");
    expect(await contentOf(workspace, join(base, "outside/elsewhere/root/a.txt"))).toBe("A");
    expect(workspace.locate(workspace.at("sub/new/x.txt")).path).toBe(join(base, "root/sub/new/x.txt"));
  });

  it("by its nearest existing ancestor, if it does not exist yet", () => {
    symlinkSync("sub", join(base, "root/link"));
    symlinkSync("nowhere/at/all", join(base, "root/dangling"));
    symlinkSync("../link/deep", join(base, "root/sub/through"));
    using workspace = open("root");
    const places = Object.entries({
      "": "",
      x: "x",
      "x/y/z": "x/y/z",
      "sub/x": "sub/x",
      "link/x/y": "sub/x/y",
      "link/through/x/y": "sub/deep/x/y",
      "dangling/x": "dangling/x",
      "sub/deep/dangling/x": "sub/deep/dangling/x",
      "link/../dangling": "dangling",
    });
    for (const [given, real] of places)
      expect(workspace.locate(workspace.at(join(base, "root", given))).path).toBe(join(base, "root", real));
    expect(faultOf(() => workspace.locate(workspace.at("a.txt/x/y")))).toBe("not_a_directory");
  });

  // Asked about one by one, so many directories would take minutes.
  it("in one walk, however many of its names are missing", () => {
    using workspace = open("root");
    const missing = "m/".repeat(30_000);
    expect(workspace.locate(workspace.at(`sub/${missing}x`)).path).toBe(join(base, `root/sub/${missing}x`));
  });

  it("in the other Unicode form, and the exact name wins where both exist", async () => {
    writeFileSync(join(base, "root/cafe\u0301.txt"), "decomposed");
    using workspace = open("root");
    expect(await contentOf(workspace, "caf\u00e9.txt")).toBe("decomposed");
    writeFileSync(join(base, "root/caf\u00e9.txt"), "composed");
    expect(await contentOf(workspace, "caf\u00e9.txt")).toBe("composed");
    expect(await contentOf(workspace, "cafe\u0301.txt")).toBe("decomposed");
  });

  it("by the name that is shown for bytes that are not UTF-8, and by what other programs show", async () => {
    const raw = Buffer.concat([
      Buffer.from(join(base, "root/odd-")),
      Buffer.from([0xff]),
      Buffer.from(".txt"),
    ]);
    writeFileSync(raw, "odd");
    using workspace = open("root");
    using directory = workspace.directory(workspace.at("."));
    const shown = directory
      .entries()
      .map(entry => entry.name)
      .find(name => name.startsWith("odd"));
    expect(shown).toBe("odd-\\xff.txt");
    expect(await contentOf(workspace, "odd-\ufffd.txt")).toBe("odd");
    expect(await contentOf(workspace, shown ?? "")).toBe("odd");
  });

  it("deeper than the longest path", async () => {
    // Made with short steps, since no single path reaches it.
    execFileSync(
      "sh",
      [
        "-c",
        'i=0; while [ $i -lt 300 ]; do mkdir "$1" && cd -P "$1" || exit 1; i=$((i+1)); done; echo deep > f',
        "-",
        "d".repeat(20),
      ],
      { cwd: join(base, "root") },
    );
    using workspace = open("root");
    expect(await contentOf(workspace, `${`${"d".repeat(20)}/`.repeat(300)}f`)).toBe("deep\n");
  });

  it("after the root itself was moved, because the directory is held and not its name", async () => {
    using workspace = open("root");
    renameSync(join(base, "root"), join(base, "moved"));
    mkdirSync(join(base, "root"));
    writeFileSync(join(base, "root/a.txt"), "IMPOSTOR");
    expect(await contentOf(workspace, "a.txt")).toBe("A");
  });
});

describe("a path is refused", () => {
  it.each([
    ["", "invalid_path"],
    ["a\0b", "invalid_path"],
    ["\ud800", "invalid_path"],
    ["n".repeat(300), "invalid_path"],
    ["C:\\Users\\x", "invalid_path"],
    ["missing.txt", "not_found"],
    ["missing/deeper.txt", "not_found"],
    ["a.txt/below", "not_a_directory"],
    ["sub", "not_a_file"],
    ["../outside/secret.txt", "outside_roots"],
    ["../outside/missing.txt", "outside_roots"],
    ["/etc/passwd", "outside_roots"],
  ] as const)("%j: %s", (path, code) => {
    using workspace = open("root");
    expect(faultOf(() => workspace.file(workspace.at(path)))).toBe(code);
  });

  it("in the same way behind a link that leads outside, whether or not the target exists", () => {
    symlinkSync("../outside", join(base, "root/out"));
    symlinkSync("../outside/missing", join(base, "root/dangling"));
    using workspace = open("root");
    for (const path of ["out/secret.txt", "out/missing.txt", "out", "dangling", "out/a/b/c"]) {
      expect(
        faultOf(() => workspace.file(workspace.at(path))),
        path,
      ).toBe("outside_roots");
    }
  });

  it("when links form a loop", () => {
    symlinkSync("b", join(base, "root/a"));
    symlinkSync("a", join(base, "root/b"));
    using workspace = open("root");
    expect(faultOf(() => workspace.file(workspace.at("a")))).toBe("invalid_path");
  });

  it("when it is a FIFO, a socket or a device: at once, without blocking", async () => {
    execFileSync("mkfifo", [join(base, "root/fifo")]);
    symlinkSync("/dev/zero", join(base, "root/zero"));
    const server = createServer().listen(join(base, "root/socket"));
    await new Promise(resolve => server.once("listening", resolve));
    using workspace = open("root");
    expect(faultOf(() => workspace.file(workspace.at("fifo")))).toBe("not_a_file");
    expect(faultOf(() => workspace.file(workspace.at("socket")))).toBe("not_a_file");
    expect(faultOf(() => workspace.file(workspace.at("zero")))).toBe("outside_roots");
    await new Promise(resolve => server.close(resolve));
  });

  it.runIf(hasProc)("when it is in /proc, even if the root is the whole file system", () => {
    using workspace = Workspace.open([{ path: "/", access: "read-only" }]);
    expect(faultOf(() => workspace.file(workspace.at("/proc/uptime")))).toBe("not_a_file");
    expect(faultOf(() => workspace.file(workspace.at("/proc/self/environ")))).toBe("outside_roots");
    expect(faultOf(() => workspace.file(workspace.at("/sys/kernel/notes")))).toMatch(/not_a_file|not_found/);
  });
});

describe("several roots", () => {
  it("are chosen by the most specific one, after links are resolved", () => {
    symlinkSync("sub", join(base, "root/link"));
    using workspace = open("root", { path: join(base, "root/sub"), access: "read-only" });
    expect(workspace.locate(workspace.at("a.txt")).root.access).toBe("read-write");
    expect(workspace.locate(workspace.at("sub/b.txt")).root.access).toBe("read-only");
    expect(workspace.locate(workspace.at("link/b.txt")).root.access).toBe("read-only");
    expect(workspace.locate(workspace.at("sub/deep/new.txt")).root.access).toBe("read-only");
  });

  it("are merged if they are the same directory, and read-write wins", () => {
    symlinkSync("root", join(base, "alias"));
    using workspace = open({ path: join(base, "root"), access: "read-only" }, "alias");
    expect(workspace.roots.map(root => root.access)).toEqual(["read-write"]);
  });

  it("are connected by links and by dots", async () => {
    symlinkSync("../outside", join(base, "root/out"));
    using workspace = open("root", "outside");
    expect(await contentOf(workspace, "out/secret.txt")).toBe("SECRET");
    expect(await contentOf(workspace, "../outside/secret.txt")).toBe("SECRET");
  });
});

it("a path cannot be forged", async () => {
  using workspace = open("root");
  // @ts-expect-error a raw string is not a WorkspacePath
  expect(() => workspace.file("a.txt")).toThrow();
  const { WorkspacePath } = await import("../../src/engine/workspace/path.ts");
  // @ts-expect-error the key that mints is not exported
  expect(() => new WorkspacePath(Symbol("forged"), workspace.roots[0], ["a.txt"], "a.txt")).toThrow(
    TypeError,
  );
});

describe("a file that is held open", () => {
  const sizes = { "very small": 10, small: 100_000, large: 3_000_000 };
  for (const [size, bytes] of Object.entries(sizes)) {
    it(`and is ${size} is read to the end that it has by now`, async () => {
      const name = join(base, "root/grows.txt");
      writeFileSync(name, "x".repeat(bytes));
      using workspace = open("root");
      using file = workspace.file(workspace.at("grows.txt"));
      writeFileSync(name, "y".repeat(bytes + 5));
      expect((await file.bytes(10_000_000)).toString()).toBe("y".repeat(bytes + 5));
      writeFileSync(name, "z".repeat(4));
      expect((await file.bytes(10_000_000)).toString()).toBe("zzzz");
    });

    it(`and is ${size} gives the same parts as the whole`, async () => {
      const content = Array.from({ length: bytes }, (_, i) => "abcdefghij"[i % 7]).join("");
      writeFileSync(join(base, "root/parts.txt"), content);
      using workspace = open("root");
      using file = workspace.file(workspace.at("parts.txt"));
      for (const [from, length] of [
        [0, 3],
        [2, 5],
        [bytes - 2, 10],
        [bytes, 4],
        [bytes + 9, 4],
        [1, 0],
        [1, -1],
      ] as const)
        expect(file.readNow(from, length).toString()).toBe(content.slice(from, from + Math.max(0, length)));
      expect((await file.bytes(10_000_000)).toString() === content).toBe(true);
    });
  }
});
