// A store whose rows were damaged: what does not fit together is reported as damage. It is neither taken for content nor
// followed for ever.
import { describe, expect, it } from "vitest";
import { WorkspaceContents } from "../../src/engine/replica/contents.ts";
import { entriesUntil, inSequence, readOrigin } from "../../src/engine/replica/read-log.ts";
import type { LogEntry } from "../../src/engine/store/store.ts";
import { contentHash } from "../../src/engine/text/version.ts";
import { ModelStore } from "../store/model.ts";

const damaged = expect.objectContaining({
  code: "store_unavailable",
  data: expect.objectContaining({ reason: "damaged" }),
});
const entry = (revision: number): LogEntry => ({
  id: `m${revision}`,
  body: JSON.stringify({ format: 1, time: 1, by: { action: "x", client: "y" }, operations: [] }),
  objects: [],
  bytes: 1,
  revision,
});

describe("a damaged store", () => {
  it("an object matches its hash, or is reported as damage", async () => {
    const hash = contentHash(Buffer.from("right"));
    for (const [content, works] of [
      ["right", true],
      ["wrong", false],
      ["", false],
    ] as const) {
      const store = new ModelStore();
      store.get = async () => Buffer.from(content);
      const got = new WorkspaceContents(store, "w", { get: () => undefined }).get(hash);
      if (works) expect(Buffer.from(await got).toString()).toBe("right");
      else await expect(got).rejects.toEqual(damaged);
    }
  });

  it.each([[[5, 6, 8]], [[6, 7]], [[5, 5]], [[6, 5]], [[-1]], [[2 ** 53]]])(
    "a log continues by one revision at a time, not with %j after 4",
    async revisions => {
      const entries = revisions.map(entry);
      expect(inSequence("w", [5, 6, 7].map(entry), 4)).toHaveLength(3);
      expect(() => inSequence("w", entries, 4)).toThrow(damaged);
      const store = new ModelStore();
      store.entries = async () => entries;
      const readAll = async () => {
        for await (const { revision } of entriesUntil(store, "w", 4, 4 + entries.length)) void revision;
      };
      await expect(readAll()).rejects.toEqual(damaged);
    },
  );

  it.each([1, 2, 3])("workspaces that are forked from each other in a circle of %d", async size => {
    const store = new ModelStore();
    const next = (id: string) => String((Number(id) + 1) % size);
    store.info = async id => ({
      id,
      name: id,
      parent: { workspace: next(id), revision: 1 },
      revision: 1,
      bytes: 0,
      created: 0,
      about: {},
    });
    store.entries = async () => [entry(1)];
    await expect(readOrigin(store, { workspace: "0", revision: 1 })).rejects.toEqual(damaged);
  });
});
