// Which write of a file in a base was the last: it decides whether a masked file is merged.
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import { LocalWrites, LogWrites } from "../../src/engine/workspaces/masked-writes.ts";
import { LiveView } from "../../src/engine/workspaces/merge-side.ts";
import { Fixture } from "./fixture.ts";

it("a write of a change is not known if a later change has written the file, or moved a directory above it", async () => {
  using fixture = new Fixture("copy");
  await fixture.forked({ "d/f.txt": "1\n", "d/g.txt": "1\n" });
  const record = await fixture.workspaces.find("main");
  using base = fixture.workspaces.openTree(record, fixture.opener, "read-write");
  const write = async (...names: readonly string[]) => {
    const bytes = Buffer.from("2\n");
    const changes = names.map(name => ({ kind: "write", path: base.at(name), bytes }) as const);
    return (await base.commit(changes)).id;
  };
  const [first, second] = [await write("d/f.txt", "d/g.txt"), await write("d/f.txt")];
  await base.allRecorded();
  const view = new LiveView(base);
  const writes = () => new LocalWrites(view, base, 0);
  expect(writes().of(first)("d/f.txt")).toBeUndefined();
  expect(writes().of(first)("d/g.txt")).toBe(view.at("d/g.txt")?.modified);
  expect(writes().of(second)("d/f.txt")).toBe(view.at("d/f.txt")?.modified);
  await base.commit([{ kind: "move", from: base.at("d"), to: base.at("e") }]);
  await base.commit([{ kind: "move", from: base.at("e"), to: base.at("d") }]);
  await base.allRecorded();
  expect(writes().of(second)("d/f.txt")).toBeUndefined();
  expect(writes().of("unknown")("d/f.txt")).toBeUndefined();
});

it("the log of a base tells writes, moves and removals of a file or of directories above it", () => {
  const operations = {
    write: { do: "write", at: "d/f.txt", hash: "0", size: 0, mode: 0o644 },
    "a move of a directory away": { do: "move", from: "d", at: "e" },
    "a move of a directory there": { do: "move", from: "e", at: "d" },
    removal: { do: "remove", at: "d" },
    copy: { do: "copy", from: "x", at: "d/f.txt" },
  } as const;
  for (const [name, operation] of Object.entries(operations)) {
    const writes = new LogWrites([{ id: "a", revision: 7, operations: [operation] }]);
    expect(writes.isUnwritten("d/f.txt", "fork"), name).toBe(false);
    expect(writes.isUnwritten("d/f.txt", { change: "a", write: 7 }), name).toBe(true);
    expect(writes.isUnwritten("d/f.txt", undefined), name).toBe(false);
    expect(writes.of("a")(), name).toBe(7);
    expect(writes.isUnwritten("other", "fork"), name).toBe(true);
  }
  const others = [
    { do: "mkdir", at: "d", mode: 0o755 },
    { do: "mode", at: "d/f.txt", mode: 0o600 },
  ] as const;
  const writes = new LogWrites([{ id: "a", revision: 7, operations: others }]);
  expect(writes.isUnwritten("d/f.txt", "fork")).toBe(true);
});

it("masked files of the same time that a caller exchanges are written, in the base and in the fork", async () => {
  for (const side of ["base", "fork"] as const) {
    using fixture = new Fixture("copy");
    const { base, fork } = await fixture.begun({ "a/.env": "PIN=1111\n", "b/.env": "PIN=2222\n" }, root => {
      for (const name of ["a", "b"]) utimesSync(join(root, name, ".env"), 1_700_000_000, 1_700_000_000);
    });
    const rules = { current: () => [new Policy([{ paths: [".env"], access: "mask" }])] };
    const workspaces = fixture.open("copy");
    using engine = openEngine({ roots: [], state: join(fixture.path, "state-2"), rules, workspaces });
    const record = await workspaces.find(side === "base" ? "main" : "task");
    using tree = workspaces.openTree(record, engine.workspace, "read-write");
    for (const [from, to] of ["a c", "b a", "c b"].map(names => names.split(" ")))
      await tree.commit([{ kind: "move", from: tree.at(`${from}/.env`), to: tree.at(`${to}/.env`) }], {
        parents: true,
      });
    const merge = async () => await workspaces.merge(await workspaces.find("task"), engine.workspace);
    if (side === "fork") {
      expect((await merge()).files.map(({ path }) => path)).toEqual(["a/.env", "b/.env"]);
      expect(readFileSync(join(base, "a/.env"), "utf8")).toBe("PIN=2222\n");
    } else {
      fixture.files(fork.root, { "a/.env": null, "b/.env": null });
      await expect(merge()).rejects.toMatchObject({
        data: { conflicts: ["a", "b"].map(name => ({ path: `${name}/.env`, masked: true })) },
      });
    }
  }
});

it("a masked file that a program writes without a new time is not overwritten by a merge", async () => {
  using fixture = new Fixture("copy");
  const { base, fork } = await fixture.forked({ ".env": "PIN=1111\n" });
  const env = join(base, ".env");
  const { atime, mtime } = statSync(env);
  writeFileSync(env, "PIN=2222\n");
  utimesSync(env, atime, mtime);
  fixture.files(fork.root, { ".env": "PIN=3333\n" });
  const rules = { current: () => [new Policy([{ paths: [".env"], access: "mask" }])] };
  const workspaces = fixture.open("copy");
  using engine = openEngine({ roots: [], state: join(fixture.path, "state-2"), rules, workspaces });
  await expect(workspaces.merge(await workspaces.find("task"), engine.workspace)).rejects.toMatchObject({
    code: "merge_conflict",
  });
  expect(readFileSync(env, "utf8")).toBe("PIN=2222\n");
});
