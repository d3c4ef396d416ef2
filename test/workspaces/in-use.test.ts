// What holds for a fork while it is used: that it was dropped, whose rules bind it, which modes it may bring to its base,
// and what names there can be.
import { chmodSync, lstatSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { Workspace } from "../../src/engine/workspace/workspace.ts";
import { hasProc } from "../setup/proc.ts";
import { Fixture } from "./fixture.ts";

function write(workspace: Workspace, path: string, text: string) {
  return workspace.commit([{ kind: "write", path: workspace.at(path), bytes: Buffer.from(text) }]);
}

describe("a fork in use", () => {
  it("that another process drops refuses the next change and command, and accepts them again after it is restored", async () => {
    using fixture = new Fixture("copy");
    const { fork } = await fixture.forked({ "a.txt": "1\n" });
    using opened = fixture.workspaces.openTree(fork, fixture.opener, "read-write");
    await write(opened, "a.txt", "2\n");
    const other = fixture.open("copy");
    await other.drop(await other.find("task"));
    await expect(write(opened, "a.txt", "3\n")).rejects.toMatchObject({
      code: "workspace_dropped",
      data: { name: "task" },
    });
    expect(() => opened.commandDirectory(opened.at("."))).toThrow("workspace_dropped");
    expect(readFileSync(join(fork.root, "a.txt"), "utf8")).toBe("2\n");
    await other.restore("task");
    await write(opened, "a.txt", "3\n");
  });

  it("is bound by rules about the paths of its base, also through a fork of the fork", async () => {
    using fixture = new Fixture("copy");
    const { base } = await fixture.forked({ "secret/key": "precious\n", "open.txt": "1\n" });
    await fixture.workspaces.fork("deeper", "task", "me");
    const policy = new Policy([{ paths: [`${base}/secret/**`], access: "deny" }]);
    const rules = { current: () => [policy] };
    const state = join(fixture.path, "state-2");
    using engine = openEngine({ roots: [], state, rules, workspaces: fixture.open("copy") });
    for (const name of ["main", "task", "deeper"]) {
      const { workspaces } = engine;
      if (workspaces === undefined) throw new Error("none");
      const record = await workspaces.find(name);
      await workspaces.ready(record);
      using opened = workspaces.openTree(record, engine.workspace, "read-write");
      expect(() => opened.file(opened.at("secret/key")), name).toThrow("forbidden");
      await expect(write(opened, "secret/new", "x"), name).rejects.toMatchObject({ code: "forbidden" });
      await write(opened, "open.txt", "2\n");
    }
  });

  it.each([
    ["would put it into other surroundings", { ".netrc": "machine a\nlogin\n\n\ndummy\n" }],
    [
      "could take its file for a renamed one",
      { ".netrc": null, "pub.txt": "machine a\npassword\n\n\ndummy\n" },
    ],
  ])("does not reveal a masked value of its base by a merge that %s", async (_, changed) => {
    using fixture = new Fixture("copy");
    const { base, fork } = await fixture.forked({ ".netrc": "machine a\npassword\n\n\ndummy\n" });
    fixture.files(fork.root, changed);
    fixture.files(base, { ".netrc": "machine a\npassword\n\n\nhunter2\n" });
    const policy = new Policy([{ paths: [".netrc"], access: "mask" }]);
    const rules = { current: () => [policy] };
    const workspaces = fixture.open("copy");
    using engine = openEngine({ roots: [], state: join(fixture.path, "state-2"), rules, workspaces });
    const record = await workspaces.find("task");
    await expect(workspaces.merge(record, engine.workspace)).rejects.toMatchObject({
      code: "merge_conflict",
    });
    expect(readFileSync(join(base, ".netrc"), "utf8")).toContain("hunter2");
  });

  it("brings no set-user-ID mode to its base", async () => {
    using fixture = new Fixture("copy");
    const { base, fork } = await fixture.forked({ tool: "#!/bin/sh\n" });
    chmodSync(join(fork.root, "tool"), 0o6755);
    writeFileSync(join(fork.root, "new"), "#!/bin/sh\n");
    chmodSync(join(fork.root, "new"), 0o4755);
    await fixture.workspaces.merge(fork, fixture.opener);
    for (const name of ["tool", "new"]) expect(statSync(join(base, name)).mode & 0o7777).toBe(0o755);
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
  });

  it.runIf(hasProc)("keeps a sparse file sparse", async () => {
    using fixture = new Fixture("copy");
    const base = fixture.files("base", { sparse: "head" });
    truncateSync(join(base, "sparse"), 64 * 1024 * 1024);
    await fixture.workspaces.adopt("main", base, "me");
    const fork = await fixture.workspaces.fork("task", "main", "me");
    const { size, blocks } = lstatSync(join(fork.root, "sparse"));
    expect(size).toBe(64 * 1024 * 1024);
    expect(blocks * 512).toBeLessThan(1024 * 1024);
  });

  it.each(["con", "NUL", "aux.txt", "com1", "task.", "..", "a..b", "-x", ""])(
    "%j is not a valid workspace name",
    async name => {
      using fixture = new Fixture("copy");
      await expect(fixture.workspaces.create(name, undefined, "me")).rejects.toMatchObject({
        code: "invalid_workspace_name",
      });
    },
  );
});
