// Operations of a store as spans.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { traceWith } from "../../src/engine/span.ts";
import { openWorkspaceStore } from "../../src/engine/store/open-store.ts";

it("every operation of a store is a span with its name and nothing else; without a tracer nothing is made", async () => {
  const place = mkdtempSync(join(tmpdir(), "polyfs-traced-store-"));
  onTestFinished(() => {
    traceWith(undefined);
    rmSync(place, { recursive: true, force: true });
  });
  await using store = await openWorkspaceStore({ store: place });
  await store.create({ name: "before", about: {} });
  const spans: string[] = [];
  traceWith(name => ({
    set: (key, value) => void spans.push(`${name} ${key}=${value}`),
    fail: () => void spans.push(`${name} failed`),
    [Symbol.dispose]: () => void spans.push(`${name} ended`),
  }));
  await store.create({ name: "w", about: {} });
  expect(await store.find("w")).toMatchObject({ name: "w" });
  expect(await store.list()).toHaveLength(2);
  expect(spans).toEqual(
    ["create", "find", "list"].flatMap(name => [`store operation=${name}`, "store ended"]),
  );
});
