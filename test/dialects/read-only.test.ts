// Where nothing may be written, no dialect offers a command that no sandbox confines: it could write anywhere.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { offeredTools } from "../../src/contract/call.ts";
import { defaultSettings, type Settings } from "../../src/contract/settings.ts";
import { dialects } from "../../src/dialects/index.ts";
import type { Access } from "../../src/engine/workspace/root.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Fixture } from "./polyfs/fixture.ts";
import { ServedTree } from "./served-tree.ts";

async function running(name: string, access: Access, commands: Settings["commands"]): Promise<string[]> {
  const dialect = await dialects[name]?.();
  if (dialect === undefined) throw new Error(name);
  const path = mkdtempSync(join(tmpdir(), "polyfs-read-only-"));
  using workspace = Workspace.open([{ path, access }]);
  rmSync(path, { recursive: true });
  const tools = offeredTools(dialect, { workspace, settings: { ...defaultSettings, commands } });
  return tools.filter(({ effect }) => effect === "runs").map(tool => tool.name);
}

describe.each(Object.keys(dialects))("%s with read-only directories", name => {
  it("runs no command outside a sandbox", async () => {
    for (const commands of [undefined, "unsandboxed", "none"] as const)
      expect(await running(name, "read-only", commands), String(commands)).toEqual([]);
  });
});

it("commands in a sandbox are offered with read-only directories, and all of them with others", async () => {
  expect(await running("polyfs", "read-only", "sandboxed")).toContain("run_command");
  expect(await running("replay", "read-only", "sandboxed")).toEqual(["execute_command"]);
  expect(await running("replay", "read-write", undefined)).toEqual(["execute_command"]);
  expect(await running("agent-tools", "read-write", undefined)).toEqual(["bash"]);
});

it("a call of such a tool is refused, and nothing is run", async () => {
  await using tree = new ServedTree("replay", { "a.txt": "a\n" });
  const wire = await tree.start({ args: ["--allow-read", tree.root], roots: [] });
  await wire.initialize();
  const { error } = await wire.request("tools/call", {
    name: "execute_command",
    arguments: { command: "echo pwned > a.txt" },
  });
  expect(error).toBeDefined();
  expect(tree.read("a.txt")).toBe("a\n");
  await using fixture = new Fixture({ "a.txt": "a\n" });
  const server = await fixture.serve({ args: ["--read-only", "--allow-run=unsandboxed"] });
  expect((await server.tools()).map(tool => tool.name)).not.toContain("run_command");
  const params = { name: "run_command", arguments: { command: "echo pwned > a.txt" } };
  expect((await server.wire.request("tools/call", params)).error?.message).toBe("Unknown tool: run_command");
  expect(fixture.read("a.txt")).toBe("a\n");
});
