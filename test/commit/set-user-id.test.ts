// A file that runs as its owner stays that owner's: no operation makes a set-user-ID or set-group-ID file that belongs
// to another user than the one who set the bit.
import { chmodSync, chownSync, existsSync, lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { grantedMode } from "../../src/engine/workspace/commit/granted-mode.ts";
import { Fixture as WorkspacesFixture } from "../workspaces/fixture.ts";
import { Fixture } from "./fixture.ts";

const isRoot = process.geteuid?.() === 0;
const other = { uid: 1234, gid: 2345 };

/** A program of another user, which runs as that user. */
function plant(path: string, mode = 0o6755): void {
  chownSync(path, other.uid, other.gid);
  chmodSync(path, mode);
}

/** Files below that run as a user who did not set the bit. */
function elevated(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(name => {
    const stat = lstatSync(join(directory, name));
    return stat.isFile() && (stat.mode & 0o6000) !== 0 && (stat.uid !== other.uid || stat.gid !== other.gid);
  });
}

const modeAt = (path: string) => statSync(path).mode & 0o7777;

describe("the bits that run a file as its owner", () => {
  it("pass only to a file of the same owner", () => {
    const [a, b, c] = [
      { user: 1, group: 1 },
      { user: 2, group: 2 },
      { user: 1, group: 2 },
    ];
    expect(grantedMode(0o6755, a, a)).toBe(0o6755);
    expect(grantedMode(0o6755, a, b)).toBe(0o755);
    expect(grantedMode(0o6755, a, c)).toBe(0o4755);
    expect(grantedMode(0o6755, a, undefined)).toBe(0o755);
    expect(grantedMode(0o1777, a, undefined)).toBe(0o1777);
  });

  it("stay when their own user copies the file, and are dropped by undo, which knows no owner", async () => {
    using fixture = new Fixture({ own: "x", "d/own": "x" });
    for (const name of ["own", "d/own"]) chmodSync(join(fixture.inside, name), 0o4755);
    await fixture.commit([{ kind: "copy", from: fixture.at("own"), to: fixture.at("copy") }]);
    expect(modeAt(join(fixture.inside, "copy"))).toBe(0o4755);
    const { id } = await fixture.commit([{ kind: "remove", path: fixture.at("d"), recursive: true }]);
    await undo(fixture.workspace, { change: id });
    expect(modeAt(join(fixture.inside, "d/own"))).toBe(0o755);
  });

  it("do not come with a copy, an undo or a written mode from another user", async context => {
    if (!isRoot) return context.skip("only root can own what others made");
    using fixture = new Fixture({ b: "b", "d/b": "b", "e/b": "b", moved: "m" });
    for (const name of ["b", "d/b", "e/b", "moved"]) plant(join(fixture.inside, name));
    await fixture.commit([
      { kind: "copy", from: fixture.at("b"), to: fixture.at("b2") },
      { kind: "copy", from: fixture.at("d"), to: fixture.at("d2") },
      fixture.write("new", "n", { mode: 0o4755 }),
    ]);
    for (const name of ["b2", "d2/b", "new"]) expect(modeAt(join(fixture.inside, name)), name).toBe(0o755);
    const { id } = await fixture.commit([{ kind: "remove", path: fixture.at("e"), recursive: true }]);
    await undo(fixture.workspace, { change: id });
    expect(modeAt(join(fixture.inside, "e/b"))).toBe(0o755);
    // An edit keeps the owner, so the bits stay with it.
    await fixture.commit([fixture.write("b", "edited")]);
    await fixture.commit([
      { kind: "move", from: fixture.at("moved"), to: fixture.at("there"), bytes: Buffer.from("n") },
    ]);
    for (const name of ["b", "there"]) {
      expect(statSync(join(fixture.inside, name))).toMatchObject(other);
      expect(modeAt(join(fixture.inside, name)), name).toBe(0o6755);
    }
    expect(elevated(fixture.inside)).toEqual([]);
  });

  it("do not come with an undo of a change to a file that has another owner since", async context => {
    if (!isRoot) return context.skip("only root can own what others made");
    using fixture = new Fixture({ a: "old" });
    const path = join(fixture.inside, "a");
    plant(path);
    const { id } = await fixture.commit([fixture.write("a", "new", { mode: 0o755 })]);
    chownSync(path, 0, 0);
    await undo(fixture.workspace, { change: id });
    expect(fixture.text("a")).toBe("old");
    expect(elevated(fixture.inside)).toEqual([]);
  });

  it("do not come with a fork or a merge", async context => {
    if (!isRoot) return context.skip("only root can own what others made");
    for (const method of ["copy", "link"] as const) {
      using fixture = new WorkspacesFixture(method);
      const { base } = await fixture.forked({ a: "a" });
      fixture.files("base", { b: "b" });
      plant(join(base, "b"));
      const fork = await fixture.workspaces.fork("second", "main", "me");
      await fixture.workspaces.readyForCommands(fork);
      expect(existsSync(join(fork.root, "b"))).toBe(true);
      expect(elevated(fork.root)).toEqual([]);
      fixture.files(fork.root, { c: "c" });
      plant(join(fork.root, "c"));
      await fixture.workspaces.merge(fork, fixture.opener);
      expect(modeAt(join(base, "c"))).toBe(0o755);
      expect(elevated(base)).toEqual([]);
    }
  });
});
