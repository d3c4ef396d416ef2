// The program's own directories in a root, as when the home directory is served: no tool sees or reaches them, whatever
// the directories above them are called by now, and nothing takes them away.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ownDirectories } from "../../src/cli/own-directories.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { Before } from "../../src/engine/history/footprint.ts";
import { grep } from "../../src/engine/search/grep.ts";
import { HiddenPlaces } from "../../src/engine/shell/hidden-places.ts";
import { run } from "../../src/engine/shell/run.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import { usualPlaces } from "../../src/engine/workspace/reserved.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { faultOf } from "../commit/fixture.ts";

const sandboxFound = await findSandbox();

let home: string;
let workspace: Workspace;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "polyfs-home-"));
  mkdirSync(join(home, ".local/state"), { recursive: true });
  const state = join(home, ".local/state/polyfs");
  workspace = Workspace.open([{ path: home, access: "read-write" }], { state });
  for (const text of ["needle 1", "needle 2"])
    await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from(text) }]);
  await workspace.settled();
});

afterEach(() => {
  workspace[Symbol.dispose]();
  rmSync(home, { recursive: true, force: true });
});

/** Every path that can be reached from the root by listing and going down. */
function walked(): string[] {
  const found: string[] = [];
  const visit = (directory: ReturnType<Workspace["directory"]>, prefix: string) => {
    for (const entry of directory.entries()) {
      found.push(prefix + entry.name);
      using child = entry.kind === "directory" ? directory.child(entry) : undefined;
      if (child !== undefined) visit(child, `${prefix}${entry.name}/`);
    }
  };
  using top = workspace.directory(workspace.at("."));
  visit(top, "");
  return found.sort();
}

const cases: readonly (readonly [story: string, move: () => string])[] = [
  ["where it was made", () => ".local/state/polyfs"],
  [
    "after its parent was renamed",
    () => {
      renameSync(join(home, ".local"), join(home, "moved"));
      return "moved/state/polyfs";
    },
  ],
  [
    "after it was renamed itself",
    () => {
      renameSync(join(home, ".local/state/polyfs"), join(home, "plain"));
      return "plain";
    },
  ],
];

describe.each(cases)("the state directory in a root, %s", (_, move) => {
  it("is not seen, not even through a link", async () => {
    const at = move();
    expect(readdirSync(join(home, at))).toContain("key");
    expect(walked().filter(path => path.endsWith("polyfs") || path.endsWith("key"))).toEqual([]);
    symlinkSync(at, join(home, "link"));
    for (const path of [at, `${at}/key`, `${at}/processes`, "link", "link/key"]) {
      const given = workspace.at(path);
      for (const reach of [
        () => workspace.file(given),
        () => workspace.directory(given),
        () => workspace.stat(given),
        () => workspace.locate(given),
      ])
        expect(reach, path).toThrow(expect.objectContaining({ code: "outside_roots" }));
    }
    expect(() => workspace.lstat(workspace.at(at))).toThrow(
      expect.objectContaining({ code: "outside_roots" }),
    );
  });

  it("is not searched", async () => {
    const at = move();
    writeFileSync(join(home, at, "plain-text"), "needle in the state");
    using start = workspace.directory(workspace.at("."));
    const hits: string[] = [];
    for await (const { path } of grep(start, { pattern: "needle" }, {})) hits.push(path);
    expect(hits).toEqual(["a"]);
  });

  it("stays where it is: neither it nor what is above it is moved, deleted or copied out", async () => {
    const at = move();
    const top = at.split("/")[0] ?? "";
    for (const path of [at, top].map(one => workspace.at(one))) {
      expect(await faultOf(workspace.commit([{ kind: "remove", path, recursive: true }]))).toBe(
        "protected_root",
      );
      expect(await faultOf(workspace.commit([{ kind: "move", from: path, to: workspace.at("x") }]))).toBe(
        "protected_root",
      );
    }
    const bytes = Buffer.from("planted");
    const planted = workspace.commit([{ kind: "write", path: workspace.at(`${at}/key`), bytes }]);
    expect(await faultOf(planted)).toBe("outside_roots");
    if (at !== top) {
      await workspace.commit([{ kind: "copy", from: workspace.at(top), to: workspace.at("copy") }]);
      expect(readdirSync(join(home, "copy/state"))).toEqual([]);
    }
    expect(readdirSync(join(home, at))).toContain("key");
  });
});

describe("a state directory that was named", () => {
  it("is refused if it is inside a root, also through a link, and before it is created", () => {
    const root = join(home, "root");
    mkdirSync(root);
    symlinkSync(root, join(home, "alias"));
    for (const state of [join(root, ".state"), join(home, "alias/deep/state"), root]) {
      const open = () => openEngine({ roots: [{ path: root, access: "read-write" }], state });
      expect(open, state).toThrow(expect.objectContaining({ code: "state_in_root" }));
    }
    expect(readdirSync(root)).toEqual([]);
    openEngine({ roots: [{ path: root, access: "read-write" }], state: join(home, "beside") })[
      Symbol.dispose
    ]();
  });

  it("cannot be served itself, nor what is in it", () => {
    const state = join(home, ".local/state/polyfs");
    for (const path of [state, join(state, "processes")])
      expect(() => openEngine({ roots: [{ path, access: "read-only" }] })).toThrow(
        expect.objectContaining({ code: "permission_denied" }),
      );
  });
});

describe("the usual places of the user, for a process that keeps its own files elsewhere", () => {
  const places = [".local/state/polyfs", ".config/polyfs", ".cache/polyfs"];
  const variables = ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "POLYFS_CODE_CACHE"];

  /** Opens this home with the state beside it, as the program does with --state-dir. */
  function opened(access: "read-only" | "read-write") {
    for (const name of variables) vi.stubEnv(name, undefined);
    vi.stubEnv("HOME", home);
    vi.stubEnv("POLYFS_CODE_CACHE", "off");
    return openEngine({ roots: [{ path: home, access }], state: beside, own: ownDirectories(process.env) });
  }

  const beside = mkdtempSync(join(tmpdir(), "polyfs-beside-"));
  afterEach(() => vi.unstubAllEnvs());
  afterAll(() => rmSync(beside, { recursive: true, force: true }));

  it.each(["read-only", "read-write"] as const)("are not read in a home that is served %s", async access => {
    using engine = opened(access);
    for (const place of places) {
      mkdirSync(join(home, place), { recursive: true }); // as another server would
      writeFileSync(join(home, place, "kept"), "needle");
      const kept = engine.workspace.at(`${place}/kept`);
      expect(await faultOf(engine.workspace.openFile(kept)), place).toBe("outside_roots");
    }
  });

  it("are not written", async () => {
    using engine = opened("read-write");
    for (const place of places) {
      const path = engine.workspace.at(`${place}/planted`);
      const planted = engine.workspace.commit([{ kind: "write", path, bytes: Buffer.from("planted") }]);
      expect(await faultOf(planted), place).toMatch(/^(outside_roots|protected_root)$/);
      const top = engine.workspace.at(place.split("/")[0] ?? "");
      const moved = engine.workspace.commit([{ kind: "move", from: top, to: engine.workspace.at("moved") }]);
      expect(await faultOf(moved), place).toBe("protected_root");
    }
  });

  it("are not among what a command has changed", async () => {
    using engine = opened("read-write");
    using before = await Before.look(engine.workspace);
    for (const place of places) writeFileSync(join(home, place, "kept"), ""); // as a server does
    expect((await before.compare()).changes).toEqual([]);
  });

  it.skipIf("missing" in sandboxFound)("are not made by a command, also if they were removed", async () => {
    if ("missing" in sandboxFound) return;
    using engine = opened("read-write");
    using hidden = new HiddenPlaces(usualPlaces(process.env));
    using directory = engine.workspace.directory(engine.workspace.at("."));
    for (const top of [".local", ".config", ".cache"]) {
      rmSync(join(home, top), { recursive: true });
      const sandbox = openSandbox(sandboxFound, { workspace: engine.workspace, network: false, hidden });
      const command = places.map(place => `mkdir -p ${place}; echo planted > ${place}/planted`).join("; ");
      const keep = { head: 65_536, tail: 0 };
      await run(command, { directory, sandbox, keep, timeoutMs: 60_000 });
      for (const place of places) expect(existsSync(join(home, place, "planted")), place).toBe(false);
    }
  });
});
