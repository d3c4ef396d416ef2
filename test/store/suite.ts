// What every store must do. An implementation passes when it behaves as the model does in random programs, and keeps
// the promises that one process at a time cannot show: one winner per revision, durability, collection beside writers.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  Appended,
  Entry,
  StoredObject,
  WorkspaceInfo,
  WorkspaceStore,
} from "../../src/engine/store/store.ts";
import { contentHash } from "../../src/engine/text/version.ts";
import { ModelStore } from "./model.ts";

/** A store with nothing in it, and others that open the same one. */
export interface Place extends AsyncDisposable {
  open(): Promise<WorkspaceStore>;
  /** Lets objects and drops look older than they are. */
  age(ms: number): Promise<void>;
}

export function object(text: string): StoredObject {
  const bytes = Buffer.from(text);
  return [contentHash(bytes), bytes];
}

export function entry(body: string, objects: readonly StoredObject[] = [], bytes = 1): Entry {
  return { id: randomBytes(8).toString("hex"), body, objects: objects.map(([hash]) => hash), bytes };
}

async function created(store: WorkspaceStore, name: string, parent?: WorkspaceInfo): Promise<WorkspaceInfo> {
  const made = await store.create({
    name,
    ...(parent && { parent: { workspace: parent.id, revision: parent.revision } }),
  });
  if (typeof made === "string") throw new Error(made);
  return made;
}

const hour = 3_600_000;

export function storeSuite(
  name: string,
  place: () => Promise<Place>,
  { runs = 40, writers = 24 } = {},
): void {
  describe(`the store: ${name}`, () => {
    it("keeps appended entries for the next process that opens it", async () => {
      await using fixture = await place();
      const [one, two] = [object("one"), object("two".repeat(1000))];
      {
        await using store = await fixture.open();
        const { id } = await created(store, "a");
        await store.put([one]);
        const first = entry("first", [one], 3);
        expect(await store.append(id, 0, first)).toEqual({ result: "appended", revision: 1 });
        const second = entry("second", [one, two], 4);
        expect(await store.append(id, 1, second, { objects: [two] })).toMatchObject({ revision: 2 });
      }
      await using store = await fixture.open();
      const found = await store.find("a");
      expect(found).toMatchObject({ name: "a", revision: 2, bytes: 7 });
      const entries = await store.entries(found?.id ?? "", 0, 10);
      expect(entries.map(({ body, revision }) => [body, revision])).toEqual([
        ["first", 1],
        ["second", 2],
      ]);
      expect(await store.entries(found?.id ?? "", 1, 10)).toEqual(entries.slice(1));
      expect(await store.entries(found?.id ?? "", 0, 1)).toEqual(entries.slice(0, 1));
      expect(Buffer.from((await store.get(found?.id ?? "", two[0])) ?? []).equals(two[1])).toBe(true);
      expect(await store.has([one[0], object("three")[0]])).toEqual(new Set([one[0]]));
    });

    it("refuses an entry that expects another revision, and treats a repeated entry as one", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const { id } = await created(store, "a");
      const first = entry("first");
      await store.append(id, 0, first);
      expect(await store.append(id, 0, first)).toEqual({ result: "appended", revision: 1 });
      expect(await store.append(id, 0, entry("late"))).toEqual({ result: "stale" });
      expect(await store.append(id, 2, entry("early"))).toEqual({ result: "stale" });
      expect((await store.entries(id, 0, 10)).map(({ body }) => body)).toEqual(["first"]);
      expect(await store.append("00", 0, first)).toEqual({ result: "gone" });
    });

    it("refuses an entry that expects another one before it", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const { id } = await created(store, "a");
      const first = entry("first");
      await store.append(id, 0, first);
      expect(await store.append(id, 1, entry("second"), { after: "another" })).toEqual({ result: "stale" });
      const second = entry("second");
      const appended = { result: "appended", revision: 2 };
      expect(await store.append(id, 1, second, { after: first.id })).toEqual(appended);
      expect(await store.append(id, 1, second, { after: first.id })).toEqual(appended);
      expect((await store.entries(id, 0, 10)).map(({ body }) => body)).toEqual(["first", "second"]);
    });

    it("lets one of many writers win each revision, and loses no entry", async () => {
      await using fixture = await place();
      const stores = await Promise.all([fixture.open(), fixture.open(), fixture.open()]);
      const [first] = stores;
      if (first === undefined) throw new Error("no store");
      const { id } = await created(first, "a");
      const write = async (store: WorkspaceStore, body: string): Promise<void> => {
        const own = entry(body, [object(body)]);
        for (let expected = 0; ; ) {
          const done = await store.append(id, expected, own, { objects: [object(body)] });
          if (done.result === "appended") return;
          expect(done.result).toBe("stale");
          expected = (await store.info(id))?.revision ?? 0;
        }
      };
      const bodies = Array.from({ length: writers }, (_, i) => `entry ${i}`);
      await Promise.all(bodies.map((body, i) => write(stores[i % 3] ?? first, body)));
      const found = await first.entries(id, 0, 100);
      expect(found.map(({ body }) => body).sort()).toEqual([...bodies].sort());
      expect(found.map(({ revision }) => revision)).toEqual(bodies.map((_, i) => i + 1));
      for (const store of stores) await store[Symbol.asyncDispose]();
    });

    it("gives a name to one workspace at a time", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      await using other = await fixture.open();
      const made = await Promise.all(
        [store, other, store, other].map(one => one.create({ name: "a", about: { by: "test" } })),
      );
      const winners = made.filter(one => typeof one !== "string");
      expect(winners).toHaveLength(1);
      const [a] = winners;
      expect(await store.list()).toEqual([expect.objectContaining({ name: "a", about: { by: "test" } })]);
      expect(await store.drop(a?.id ?? "")).toBe(true);
      expect(await other.drop(a?.id ?? "")).toBe(false);
      expect(await other.find("a")).toBeUndefined();
      expect(await other.append(a?.id ?? "", 0, entry("late"))).toEqual({ result: "gone" });
      const next = await created(other, "a");
      expect(await store.restore(a?.id ?? "")).toBe("exists");
      await store.drop(next.id);
      expect(await store.restore(a?.id ?? "")).toBe("restored");
      expect(await other.find("a")).toMatchObject({ id: a?.id });
      expect(await other.list({ dropped: true })).toEqual([expect.objectContaining({ id: next.id })]);
    });

    it("opens an object only through a log that names it, up to where a fork began", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const [early, late, own] = [object("early"), object("late"), object("own")];
      const base = await created(store, "base");
      const stranger = await created(store, "stranger");
      await store.append(base.id, 0, entry("early", [early]), { objects: [early] });
      const fork = await created(store, "fork", { ...base, revision: 1 });
      await store.append(base.id, 1, entry("late", [late]), { objects: [late] });
      await store.append(fork.id, 0, entry("own", [own]), { objects: [own] });
      const grandchild = await created(store, "grandchild", { ...fork, revision: 1 });
      const reads = async (workspace: WorkspaceInfo) =>
        Promise.all(
          [early, late, own].map(async ([hash]) => (await store.get(workspace.id, hash)) !== undefined),
        );
      expect(await reads(base)).toEqual([true, true, false]);
      expect(await reads(fork)).toEqual([true, false, true]);
      expect(await reads(grandchild)).toEqual([true, false, true]);
      expect(await reads(stranger)).toEqual([false, false, false]);
      expect(await store.create({ name: "x", parent: { workspace: base.id, revision: 3 } })).toBe(
        "no_parent",
      );
      expect(await store.create({ name: "x", parent: { workspace: "00", revision: 0 } })).toBe("no_parent");
      await store.drop(base.id);
      expect(await store.create({ name: "x", parent: { workspace: base.id, revision: 1 } })).toBe(
        "no_parent",
      );
    });

    it("collects unreferenced objects, and none that a writer is about to reference", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const [kept, lost, begun, inherited] = [object("kept"), object("lost"), object("begun"), object("old")];
      const base = await created(store, "base");
      await store.append(base.id, 0, entry("kept", [kept]), { objects: [kept] });
      const parent = await created(store, "parent");
      await store.append(parent.id, 0, entry("old", [inherited]), { objects: [inherited] });
      const fork = await created(store, "fork", { ...parent, revision: 1 });
      await store.put([lost, begun]);
      const doomed = await created(store, "doomed");
      await store.drop(doomed.id);
      await store.drop(parent.id);
      expect(await store.collect({ graceMs: hour })).toMatchObject({ workspaces: 0, objects: 0 });
      await fixture.age(2 * hour);
      // The writer asks which objects are there, is told that this one is, and does not put it again.
      expect(await store.has([begun[0]])).toEqual(new Set([begun[0]]));
      const expected = { workspaces: 1, objects: 1 };
      expect(await store.collect({ graceMs: hour, dryRun: true })).toMatchObject(expected);
      expect(await store.collect({ graceMs: hour })).toMatchObject(expected);
      expect(await store.restore(doomed.id)).toBe("gone");
      expect(await store.append(base.id, 1, entry("begun", [begun]))).toMatchObject({ revision: 2 });
      expect(await store.append(base.id, 2, entry("lost", [lost]))).toEqual({ result: "missing_objects" });
      expect(await store.get(fork.id, inherited[0])).toBeDefined();
      expect(await store.get(base.id, kept[0])).toBeDefined();
      await store.drop(fork.id);
      await fixture.age(2 * hour);
      expect(await store.collect({ graceMs: hour })).toMatchObject({ workspaces: 2, objects: 1 });
      expect(await found(store.check())).toEqual([]);
    });

    it("keeps an object that was put again, as if it were new", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const [again, once] = [object("again"), object("once")];
      const { id } = await created(store, "a");
      await store.put([again, once]);
      await fixture.age(2 * hour);
      await store.put([again]);
      expect(await store.collect({ graceMs: hour })).toMatchObject({ objects: 1 });
      expect(await store.append(id, 0, entry("again", [again]))).toMatchObject({ revision: 1 });
    });

    it("lists workspaces in the order of their names", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const names = ["b", "a", "C", "a-b", "a.b", "ab"];
      for (const name of names) await created(store, name);
      expect((await store.list()).map(({ name }) => name)).toEqual(names.toSorted());
      for (const { id } of await store.list()) await store.drop(id);
      expect((await store.list({ dropped: true })).map(({ name }) => name)).toEqual(names.toSorted());
    });

    it("counts bytes from all writers against a limit", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const { id } = await created(store, "a");
      expect(await store.append(id, 0, entry("six", [], 6), { maxBytes: 10 })).toMatchObject({ revision: 1 });
      expect(await store.append(id, 1, entry("five", [], 5), { maxBytes: 10 })).toEqual({
        result: "over_quota",
      });
      expect(await store.append(id, 1, entry("four", [], 4), { maxBytes: 10 })).toMatchObject({
        revision: 2,
      });
      expect(await store.find("a")).toMatchObject({ bytes: 10 });
    });

    it("refuses bytes that do not have the hash they come with", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      await expect(store.put([[object("a")[0], Buffer.from("b")]])).rejects.toMatchObject({
        code: "store_unavailable",
      });
    });

    it("notifies that a log has grown, though not every time", async () => {
      await using fixture = await place();
      await using store = await fixture.open();
      const { id } = await created(store, "a");
      const seen: (readonly [string, number])[] = [];
      store.changed((...hint) => seen.push(hint));
      let revision = 0;
      // A hint may be lost, for example before the store has begun to listen.
      while (seen.length === 0) {
        await store.append(id, revision++, entry("next"));
        await new Promise(resolve => setTimeout(resolve, 20));
      }
      expect(seen[0]?.[0]).toBe(id);
      expect(seen[0]?.[1]).toBeLessThanOrEqual(revision);
    });

    it("behaves like the model, in any order", async () => {
      await fc.assert(
        fc.asyncProperty(program, async steps => {
          await using fixture = await place();
          await using store = await fixture.open();
          const model = new ModelStore();
          const [real, ideal] = [
            new Run(store, ms => fixture.age(ms)),
            new Run(model, async ms => {
              model.now += ms;
            }),
          ];
          for (const [i, step] of steps.entries())
            expect([i, await real.take(step)]).toEqual([i, await ideal.take(step)]);
          expect(await found(store.check())).toEqual([]);
        }),
        { numRuns: runs },
      );
    });
  });
}

async function found<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

type Step =
  | { readonly do: "create"; readonly name: string; readonly from: number | undefined; readonly at: number }
  | {
      readonly do: "append";
      readonly to: number;
      readonly back: number;
      readonly text: string;
      readonly put: boolean;
    }
  | { readonly do: "put"; readonly text: string }
  | { readonly do: "get"; readonly from: number; readonly text: string }
  | { readonly do: "drop" | "restore" | "info" | "entries"; readonly which: number }
  | { readonly do: "list" | "age" | "collect" };

const which = fc.nat(4);
const text = fc.constantFrom("alpha", "beta", "gamma", "delta");
const program = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("create" as const),
        name: fc.constantFrom("a", "b", "c"),
        from: fc.option(which, { nil: undefined }),
        at: fc.nat(2),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant("append" as const),
        to: which,
        back: fc.constantFrom(0, 0, 0, 1, -1),
        text,
        put: fc.boolean(),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("put" as const), text }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("get" as const), from: which, text }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom("drop" as const, "restore" as const, "info" as const, "entries" as const),
        which,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constantFrom("list" as const, "age" as const, "collect" as const) }),
    },
  ),
  { minLength: 5, maxLength: 30 },
) as fc.Arbitrary<readonly Step[]>;

/** Runs a program on one store. Workspaces are numbered by creation, so that answers can be compared. */
class Run {
  readonly #store: WorkspaceStore;
  readonly #age: (ms: number) => Promise<void>;
  readonly #ids: string[] = [];
  #count = 0;

  constructor(store: WorkspaceStore, age: (ms: number) => Promise<void>) {
    this.#store = store;
    this.#age = age;
  }

  async take(step: Step): Promise<unknown> {
    const store = this.#store;
    switch (step.do) {
      case "create": {
        const parent =
          step.from === undefined ? undefined : { workspace: this.#id(step.from), revision: step.at };
        const made = await store.create({ name: step.name, ...(parent && { parent }) });
        if (typeof made === "string") return made;
        this.#ids.push(made.id);
        return this.#plain(made);
      }
      case "append":
        return await this.#append(step);
      case "put":
        return await store.put([object(step.text)]);
      case "get": {
        const bytes = await store.get(this.#id(step.from), object(step.text)[0]);
        return bytes && Buffer.from(bytes).toString();
      }
      case "drop":
        return await store.drop(this.#id(step.which));
      case "restore":
        return await store.restore(this.#id(step.which));
      case "info":
        return this.#plain(await store.info(this.#id(step.which)));
      case "entries":
        return await store.entries(this.#id(step.which), 1, 3);
      case "list":
        return [
          ...(await store.list()),
          ...(await store.list({ dropped: true })).map(({ id }) => ({ id }) as WorkspaceInfo),
        ]
          .map(info => this.#plain(info))
          .sort((one, other) => Number(one?.id) - Number(other?.id));
      case "age":
        return await this.#age(2 * hour);
      case "collect": {
        const { workspaces, objects } = await store.collect({ graceMs: hour });
        return { workspaces, objects };
      }
    }
  }

  async #append({ to, back, text: body, put }: Extract<Step, { do: "append" }>): Promise<Appended> {
    const id = this.#id(to);
    const expected = Math.max(0, ((await this.#store.info(id))?.revision ?? 0) - back);
    const one = object(body);
    const own = { ...entry(body, [one], body.length), id: `e${++this.#count}` };
    return this.#store.append(id, expected, own, { ...(put && { objects: [one] }), maxBytes: 40 });
  }

  #id(number: number): string {
    return this.#ids[number] ?? "00";
  }

  #plain(info: WorkspaceInfo | undefined) {
    if (info === undefined) return undefined;
    const { created: _, dropped, parent, ...rest } = info;
    return {
      ...rest,
      id: this.#ids.indexOf(info.id),
      parent: parent && [this.#ids.indexOf(parent.workspace), parent.revision],
      dropped: dropped !== undefined,
    };
  }
}
