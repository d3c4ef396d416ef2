// HTTP callers in workspaces of a shared store: idle workspaces are closed, and callers stay in theirs while the store
// is unreachable.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Engine, openEngine } from "../../src/engine/engine.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import { run } from "../../src/engine/shell/run.ts";
import { findSandbox, openSandbox } from "../../src/engine/shell/sandbox.ts";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import { SharedWorkspaces } from "../../src/engine/workspaces/shared-workspaces.ts";
import { Principal } from "../../src/mcp/auth/principal.ts";
import { Refusal } from "../../src/mcp/http/refusal.ts";
import { WorkspacePrincipals } from "../../src/mcp/http/workspace-principals.ts";
import { Line } from "../replica/fixture.ts";
import { odd, running } from "../shell/fixture.ts";

const found = await findSandbox();

async function served() {
  const base = mkdtempSync(join(tmpdir(), "polyfs-shared-"));
  const from = join(base, "from");
  mkdirSync(from);
  writeFileSync(join(from, "f.txt"), "one\n");
  const line = new Line(new DirectoryStore(join(base, "store")));
  const workspaces = new SharedWorkspaces({
    ...{ directory: join(base, "workspaces"), store: line.store, method: "copy" as const },
  });
  const engine: Engine = openEngine({ roots: [], state: join(base, "state"), workspaces });
  onTestFinished(async () => {
    line.isCut = false;
    await workspaces[Symbol.asyncDispose]();
    engine[Symbol.dispose]();
    rmSync(base, { recursive: true, force: true });
  });
  const record = await workspaces.create("main", from, "");
  await workspaces.release(record.id);
  return { base, engine, line, workspaces, record };
}

it("a shared workspace is not made from a directory that holds the copies of this machine", async () => {
  const { base, workspaces } = await served();
  for (const from of [base, workspaces.layout.trees])
    await expect(workspaces.create("other", from, "")).rejects.toMatchObject({ code: "nested_workspace" });
  expect((await workspaces.list()).map(({ name }) => name)).toEqual(["main"]);
});

it("a workspace that began as a single directory has a copy of its own, and leaves those of others alone", async () => {
  const { engine, line, workspaces, record } = await served();
  await workspaces.ready(record);
  const names = ["alone", "beside"];
  for (const name of names) {
    const made = await line.store.create({ name }); // as a server with --store and a directory does
    if (typeof made === "string") throw new Error(made);
    const operations = [{ do: "mkdir", at: `of ${name}`, mode: 0o755 }];
    const body = JSON.stringify({ format: 1, time: 0, by: { action: "import", client: "" }, operations });
    await line.store.append(made.id, 0, { id: `first${name}`, body, objects: [], bytes: 1 });
  }
  const shown = async (name: string) => {
    const found = await workspaces.find(name);
    await workspaces.ready(found);
    using tree = workspaces.openTree(found, engine.workspace, "read-only");
    using directory = tree.directory(tree.at("."));
    return directory.entries().map(entry => entry.name);
  };
  for (const name of names) expect(await shown(name)).toEqual([`of ${name}`]);
  expect(await shown("main")).toEqual(["f.txt"]);
  expect(readFileSync(join(record.root, "f.txt"), "utf8")).toBe("one\n");
});

it("what the store says about a workspace chooses no place on this machine", async () => {
  const { base, engine, line, workspaces } = await served();
  const other = join(base, "other");
  mkdirSync(join(other, "tree"), { recursive: true });
  writeFileSync(join(other, "tree/own.txt"), "own\n");
  const notes: Record<string, string>[] = [
    { kind: "adopted", directory: join(other, "tree") },
    { tree: "../../other" },
    { tree: ".." },
    { tree: "", method: "overlay", snapshot: "../../../other" },
  ];
  for (const [i, about] of notes.entries()) {
    const made = await line.store.create({ name: `w${i}`, about });
    if (typeof made === "string") throw new Error(made);
    const body = JSON.stringify({ format: 1, time: 0, by: { action: "x", client: "" }, operations: [] });
    await line.store.append(made.id, 0, { id: `first${i}`, body, objects: [], bytes: 1 });
    const record = await workspaces.find(`w${i}`);
    expect(record.root.startsWith(`${workspaces.layout.trees}/w${i}-`)).toBe(true);
    await workspaces.ready(record);
    using tree = workspaces.openTree(record, engine.workspace, "read-only");
    using directory = tree.directory(tree.at("."));
    expect(directory.entries()).toEqual([]);
    expect(readFileSync(join(other, "tree/own.txt"), "utf8")).toBe("own\n");
  }
});

it("changes that follow a merge, or one that was refused, sort behind those before it", async () => {
  const { engine, workspaces } = await served();
  const write = async (name: string, content: string) => {
    const record = await workspaces.find(name);
    await workspaces.ready(record);
    using tree = workspaces.openTree(record, engine.workspace, "read-write");
    const path = tree.at("f.txt");
    return (await tree.commit([{ kind: "write", path, bytes: Buffer.from(content) }])).id;
  };
  await workspaces.fork("task", "main", "");
  const ids = [await write("task", "two\n")];
  ids.push((await workspaces.merge(await workspaces.find("task"), engine.workspace)).change ?? "");
  for (let i = 0; i < 5; i++) ids.push(await write(i % 2 === 0 ? "main" : "task", `merged ${i}\n`));
  await expect(workspaces.merge(await workspaces.find("task"), engine.workspace)).rejects.toMatchObject({
    code: "merge_conflict",
  });
  for (let i = 0; i < 5; i++) ids.push(await write(i % 2 === 0 ? "main" : "task", `refused ${i}\n`));
  expect(ids).toEqual([...new Set(ids)].sort());
});

it("a caller that sees a file of a shared workspace masked learns nothing from a right guess in a fork", async () => {
  const told: string[] = [];
  for (const guess of ["one", "another"]) {
    const { engine, workspaces } = await served();
    const policy = new Policy([{ paths: ["f.txt"], access: "mask" }]);
    using caller = engine.workspace.under({ current: () => [policy] });
    const record = await workspaces.fork("task", "main", "");
    await workspaces.ready(record);
    using tree = workspaces.openTree(record, caller, "read-write");
    await tree.commit([{ kind: "write", path: tree.at("f.txt"), bytes: Buffer.from(`${guess}\n`) }]);
    const found = [await workspaces.diff(record, caller), (await workspaces.merge(record, caller)).files];
    told.push(JSON.stringify(found.map(files => files.map(({ path, effect }) => [path, effect]))));
  }
  expect(told[0]).toContain("f.txt");
  expect(told[1]).toBe(told[0]);
});

it.each(["when the fork was made", "after a merge"])(
  "a masked file that a shared base had changed to a guess %s, and then changed back, is a conflict",
  async when => {
    const told: string[] = [];
    for (const guess of ["one", "another"]) {
      const { engine, workspaces } = await served();
      const policy = new Policy([{ paths: ["f.txt"], access: "mask" }]);
      using caller = engine.workspace.under({ current: () => [policy] });
      const write = async (name: string, content: string) => {
        const record = await workspaces.find(name);
        await workspaces.ready(record);
        using tree = workspaces.openTree(record, caller, "read-write");
        await tree.commit([{ kind: "write", path: tree.at("f.txt"), bytes: Buffer.from(`${content}\n`) }]);
      };
      const merge = async () => await workspaces.merge(await workspaces.find("task"), caller);
      if (when !== "after a merge") await write("main", guess);
      await workspaces.fork("task", "main", "");
      if (when === "after a merge") {
        // The second merge shows that a file that only the fork writes is merged each time.
        for (const content of ["mine", guess]) {
          await write("task", content);
          expect((await merge()).files).toHaveLength(1);
        }
      }
      await write("main", "one");
      await write("task", "-");
      told.push(
        await merge().then(
          () => "merged",
          (error: unknown) => String(error),
        ),
      );
    }
    expect(told[0]).toContain("merge_conflict");
    expect(told[1]).toBe(told[0]);
  },
);

function caller({ workspace }: Engine): Principal {
  return new Principal({
    ...{ owner: "a", workspace, narrowed: false, browses: true, reach: { access: "read-write" } },
    permits: () => true,
    refuse: () => new Refusal(403, "no"),
  });
}

describe("a shared workspace that callers enter", () => {
  it("is closed after a while without use, after the changes of background commands are published, and opens again", async () => {
    const { engine, workspaces, record } = await served();
    using places = new WorkspacePrincipals(engine, false, 100);
    const principal = caller(engine);
    await places.for(principal, "main");
    expect(engine.workspace.replications.size).toBe(1);
    const { revision } = (await workspaces.store.info(record.id)) ?? { revision: 0 };
    const { root } = await workspaces.find("main");
    writeFileSync(join(root, "left.txt"), "by a background command\n");
    await expect.poll(() => engine.workspace.replications.size, { timeout: 20_000 }).toBe(0);
    expect((await workspaces.store.info(record.id))?.revision).toBe(revision + 1);
    const { is } = await places.for(principal, "main");
    expect(engine.workspace.replications.size).toBe(1);
    expect(readFileSync(join(root, "left.txt"), "utf8")).toBe("by a background command\n");
    const change = { kind: "write", path: is.workspace.at("f.txt"), bytes: Buffer.from("two\n") } as const;
    await is.workspace.commit([change]);
    expect((await workspaces.store.info(record.id))?.revision).toBe(revision + 2);
  });

  it("is closed and opened repeatedly while callers come and go, and refuses none of them", async () => {
    const { engine } = await served();
    using places = new WorkspacePrincipals(engine, false, 5);
    const principal = caller(engine);
    for (let i = 0; i < 25; i++) {
      const entered = await places.for(principal, "main");
      using _ = entered.use();
      const { is } = entered;
      const path = is.workspace.at(`n${i}`);
      await is.workspace.commit([{ kind: "write", path, bytes: Buffer.from("x") }]);
      await new Promise(resolve => setTimeout(resolve, i % 12));
    }
  });

  it("stays open for what a command left in the background there, which ends with the caller's grant", async () => {
    const { engine } = await served();
    using places = new WorkspacePrincipals(engine, true, 100);
    const principal = caller(engine);
    const nap = odd();
    const inside = await places.for(principal, "main");
    const { workspace } = inside.is;
    const keep = { head: 1000, tail: 0 };
    const call = inside.use();
    for (const sandbox of [
      undefined,
      ...("missing" in found ? [] : [openSandbox(found, { workspace, network: false })]),
    ]) {
      using directory = workspace.commandDirectory(workspace.at("."));
      const options = {
        directory,
        keep,
        leftovers: "keep",
        grant: inside,
        ...(sandbox && { sandbox }),
      } as const;
      await run(`sleep ${nap} > /dev/null 2>&1 &`, options);
    }
    call[Symbol.dispose]();
    const all = running(nap).length;
    expect(all).toBeGreaterThan(0);
    await new Promise(resolve => setTimeout(resolve, 1000)); // long enough to be idle, and closed
    expect(running(nap)).toHaveLength(all);
    expect(await places.for(principal, "main")).toBe(inside);
    principal.end();
    await expect.poll(() => [running(nap), inside.isUsed]).toEqual([[], false]);
  });

  it("stays open to its callers while the store cannot be reached", async () => {
    const { engine, line } = await served();
    using places = new WorkspacePrincipals(engine, false, 100);
    const principal = caller(engine);
    const entered = await places.for(principal, "main");
    line.isCut = true;
    await new Promise(resolve => setTimeout(resolve, 400)); // long enough to be idle
    const still = await places.for(principal, "main");
    expect(still.is.workspace.roots).toEqual(entered.is.workspace.roots);
    expect(engine.workspace.replications.size).toBe(1);
    await expect(places.for(principal, "other")).rejects.toMatchObject({ code: "store_unavailable" });
  });

  it.each(["main", "task"])(
    "is not found if it (%s) is dropped at any moment while it is opened",
    async name => {
      let refused = 0;
      for (let moment = 1; ; moment++) {
        const { base, engine, line, workspaces } = await served();
        await workspaces.fork("task", "main", "");
        await using elsewhere = new DirectoryStore(join(base, "store"));
        using places = new WorkspacePrincipals(engine, false);
        const { id } = await workspaces.find(name);
        let questions = 0;
        line.beforeEach = async () => {
          if (++questions === moment) await elsewhere.drop(id);
        };
        const entered = places.for(caller(engine), name);
        const status = await entered.then(
          () => 200,
          (error: unknown) => (error instanceof Refusal ? error.status : String(error)),
        );
        line.beforeEach = async () => {};
        expect([200, 404], `dropped before question ${moment}`).toContain(status);
        if (status === 404) refused++;
        if (questions < moment) break;
      }
      expect(refused).toBeGreaterThan(1);
    },
  );
});

it("a caller whose grant ends at any moment while its workspace is opened is refused", async () => {
  let refused = 0;
  for (let moment = 1; ; moment++) {
    const { engine, line } = await served();
    using places = new WorkspacePrincipals(engine, false);
    let opened = 0;
    const principal = new Principal({
      ...caller(engine).is,
      get browses() {
        if (++opened > 10) throw new Error("it is opened again and again");
        return true;
      },
    });
    let questions = 0;
    line.beforeEach = async () => {
      if (++questions === moment) principal.end();
    };
    const entered = await places.for(principal, "main").catch((error: unknown) => error);
    if (entered instanceof Refusal) {
      expect(entered.status, `ended before question ${moment}`).toBe(401);
      refused++;
    } else expect(entered, `ended before question ${moment}`).toBeInstanceOf(Principal);
    if (questions < moment) break;
  }
  expect(refused).toBeGreaterThan(1);
});

it("two servers merge one fork at the same time, again and again, and neither is refused", async () => {
  const { base, engine, workspaces } = await served();
  const store = new DirectoryStore(join(base, "store"));
  const others = new SharedWorkspaces({
    ...{ directory: join(base, "other workspaces"), store, method: "copy" as const },
  });
  const other: Engine = openEngine({ roots: [], state: join(base, "other state"), workspaces: others });
  onTestFinished(async () => {
    await others[Symbol.asyncDispose]();
    other[Symbol.dispose]();
  });
  for (let i = 0; i < 5; i++) {
    await workspaces.fork(`task${i}`, "main", "");
    const record = await workspaces.find(`task${i}`);
    await workspaces.ready(record);
    using tree = workspaces.openTree(record, engine.workspace, "read-write");
    const made = ["new.txt", "another.txt"].map(name => ({
      ...{ kind: "write" as const, path: tree.at(`${i}-${name}`), bytes: Buffer.from(`${i}\n`) },
    }));
    await tree.commit(made);
    await others.ready(await others.find(`task${i}`));
    await Promise.all([
      workspaces.merge(record, engine.workspace),
      others.merge(await others.find(`task${i}`), other.workspace),
    ]);
  }
  const main = await others.find("main");
  using tree = others.openTree(main, other.workspace, "read-only");
  using directory = tree.directory(tree.at("."));
  expect(directory.entries()).toHaveLength(11);
});
