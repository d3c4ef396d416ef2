// The parts of confinement that need no sandbox to be checked: what is flagged, what is written down for macOS.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { reducedEnvironment } from "../../src/engine/shell/environment.ts";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import { actsLater } from "../../src/engine/shell/later-code.ts";
import { profileOf } from "../../src/engine/shell/seatbelt.ts";
import { nodeDirectories } from "../../src/engine/shell/system-directories.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

describe("a file that another program later runs or reads as configuration", () => {
  it.each([
    ".git/hooks/pre-commit",
    "sub/.git/config",
    ".husky/pre-push",
    ".mcp.json",
    ".claude/settings.json",
    ".vscode/tasks.json",
    ".envrc",
    ".bashrc",
    ".github/workflows/ci.yml",
    "/home/a/.config/autostart/x.desktop",
  ])("is flagged: %s", path => expect(actsLater(path)).toBe(true));

  it.each([
    "src/a.ts",
    ".git/index",
    ".git/hooks/pre-commit.sample",
    "a.json",
    ".cache/x",
    "github/a",
    "arc",
  ])("is not: %s", path => expect(actsLater(path)).toBe(false));
});

describe("the variables that are passed on", () => {
  it("are those that programs need, never keys", () => {
    const parent = {
      PATH: "/bin",
      HOME: "/h",
      LC_ALL: "C",
      TERM: "xterm",
      GITHUB_TOKEN: "t",
      AWS_SECRET_ACCESS_KEY: "k",
      SSH_AUTH_SOCK: "/s",
      NODE_OPTIONS: "--require x",
      LD_PRELOAD: "x.so",
    };
    const { PAGER, GIT_PAGER, GIT_TERMINAL_PROMPT, ...rest } = reducedEnvironment(parent);
    expect(rest).toEqual({ PATH: "/bin", HOME: "/h", LANG: "C.UTF-8", LC_ALL: "C", TERM: "dumb" });
    expect([PAGER, GIT_PAGER, GIT_TERMINAL_PROMPT]).toEqual(["cat", "cat", "0"]);
  });
});

describe("what Node needs", () => {
  it("is its programs and packages, never their parent directory, which may be a home directory", () => {
    expect(nodeDirectories("/home/a/bin/node")).toEqual([
      "/home/a/bin",
      "/home/a/lib/node_modules",
      "/home/a/include/node",
    ]);
  });
});

describe("the profile for macOS", () => {
  it("denies by default, grants roots as they were granted, and denies secrets last", () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'polyfs "q" ')));
    using workspace = Workspace.open([{ path: base, access: "read-only" }]);
    const profile = profileOf({ workspace, network: false, hidden: new HiddenPlaces([`${base}/.ssh`]) });
    rmSync(base, { recursive: true });
    const root = `(subpath "${base.replaceAll('"', '\\"')}")`;
    const lines = profile.split("\n");
    expect(lines[1]).toBe("(deny default)");
    expect(lines.find(line => line.startsWith("(allow file-read* "))).toContain(root);
    expect(lines.filter(line => line.startsWith("(allow file-write* ")).join()).not.toContain(root);
    expect(profile).toContain("(deny network*)");
    expect(lines.at(-1)).toMatch(/^\(deny file-read\* file-write\* .*\.ssh"\)\)$/);
  });

  it("protects a read-only root in a read-write one, and the directories above it from being moved", () => {
    const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-profile-")));
    mkdirSync(join(base, "sub/ro"), { recursive: true });
    using workspace = Workspace.open([
      { path: join(base, "sub/ro"), access: "read-only" },
      { path: base, access: "read-write" },
    ]);
    const lines = profileOf({ workspace, network: false }).split("\n");
    rmSync(base, { recursive: true });
    const order = [
      `(allow file-write* (subpath "${base}"))`,
      `(deny file-write* (subpath "${base}/sub/ro"))`,
    ];
    expect(lines.filter(line => order.includes(line))).toEqual(order);
    expect(lines).toContain(`(deny file-write-unlink (literal "${base}/sub"))`);
  });
});
