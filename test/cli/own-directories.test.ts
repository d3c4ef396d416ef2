// The home directory is served, and the program's own directories have their place in it.
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { start } from "../mcp/wire.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "polyfs-home-"));
});

afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

describe("where the home directory is served", () => {
  it("no file can be created in the program's own directories, even if they did not exist", async () => {
    const env = { HOME: home, XDG_CONFIG_HOME: "", XDG_CACHE_HOME: "", XDG_STATE_HOME: "" };
    await using wire = await start({
      roots: [home],
      env: { ...env, POLYFS_STATE_DIR: "", POLYFS_CODE_CACHE: "" },
    });
    await wire.initialize();
    for (const own of [".config/polyfs", ".cache/polyfs", ".local/state/polyfs"]) {
      const planted = await wire.call("write_file", { path: `${own}/policy.json`, content: "{}" });
      expect(planted.isError, own).toBe(true);
      const [above = ""] = own.split("/");
      const moved = await wire.call("move_path", { from: above, to: `${above}-moved` });
      expect(moved.isError, own).toBe(true);
      expect(existsSync(join(home, own, "policy.json"))).toBe(false);
    }
    const listed = JSON.stringify(await wire.call("list_directory", { path: ".config" }));
    expect(listed).not.toContain("polyfs");
    expect(readdirSync(join(home, ".config"))).toEqual(["polyfs"]);
  });
});
