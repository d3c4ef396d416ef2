// Undo and redo in a terminal show no more than the policy does.
import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { Fixture, program } from "./fixture.ts";

describe("polyfs undo and polyfs redo", () => {
  it("show masks where the policy masks, restore the real bytes, and show these only with --reveal", async () => {
    const fixture = new Fixture();
    fixture.write(".env", "TOKEN=old-tulip\nMODE=dev\n");
    const agent = await fixture.agent("alpha", ["--policy", "none", fixture.root]);
    await agent.change("edit_file", { path: ".env", edits: [{ old: "old-tulip", new: "new-tulip" }] });
    await agent.client.close();
    const run = (input: string, ...args: string[]) =>
      spawnSync(process.execPath, [program, ...args], {
        cwd: fixture.root,
        encoding: "utf8",
        env: fixture.environment,
        input,
      });
    for (const args of [
      ["undo", "--dry-run"],
      ["undo", "--interactive"],
      ["undo"],
      ["redo", "--dry-run"],
      ["redo"],
    ]) {
      const { stdout, stderr, status } = run("n\n", ...args);
      expect([args, status, /tulip/.test(stdout + stderr)]).toEqual([args, 0, false]);
      expect([args, fixture.read(".env").includes("old-tulip")]).toEqual([
        args,
        args[0] === "redo" ? args.length > 1 : args.length === 1,
      ]);
    }
    expect(run("", "undo", "--dry-run", "--reveal").stdout).toContain("+TOKEN=old-tulip");
    expect(run("y\n", "undo", "--interactive", "--reveal").stdout).toContain("+TOKEN=new-tulip");
    expect(fixture.read(".env")).toBe("TOKEN=old-tulip\nMODE=dev\n");
  });
});
