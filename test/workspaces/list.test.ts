// What an agent sees of many workspaces: one answer of limited size, and only those that it may know.
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callEmbedded, outcomeText } from "../../src/contract/embedded.ts";
import type { Settings } from "../../src/contract/settings.ts";
import { polyfs } from "../../src/dialects/polyfs/index.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { Fixture } from "./fixture.ts";

it("a list that is too long for an answer has the most recently used ones, and the total", async () => {
  using fixture = new Fixture("link");
  const { workspaces } = fixture;
  const base = fixture.files("base", { "a.txt": "a\n" });
  await workspaces.adopt("main", base, "");
  await workspaces.create("other", undefined, "");
  for (let i = 0; i < 12; i++) {
    const { tree = "" } = await workspaces.fork(`task-${i}`, i === 5 ? "task-4" : "main", "");
    const used = new Date(Date.now() - ((i * 7) % 12) * 60_000);
    utimesSync(join(workspaces.layout.trees, tree), used, used);
  }
  using engine = openEngine({
    roots: [{ path: base, access: "read-write" }],
    state: join(fixture.path, "state-main"),
    workspaces,
  });
  const list = async (settings: Partial<Settings>) => {
    const context = { engine, settings: { workspaces: true, ...settings } };
    const outcome = await callEmbedded(polyfs, "workspace", { action: "list" }, context);
    return outcomeText(outcome).split("\n");
  };
  const all = await list({});
  expect(all).toHaveLength(14);
  expect(all.find(line => line.includes("task-5"))).toContain("fork of task-4");
  expect(await list({ ownWorkspaceOnly: true })).toEqual(all.filter(line => !line.includes("other")));
  const some = await list({ maxOutputBytes: 500 });
  expect(Buffer.byteLength(some.join("\n"))).toBeLessThanOrEqual(500);
  expect(some.at(-1)).toBe(
    `[the ${some.length - 1} that were used last, of 14; the user sees all with polyfs workspace list]`,
  );
  expect(some.slice(0, -1).join()).toMatch(/task-0 .*task-7 .*task-2 /);
});
