// What a refused merge reported counts until it is dealt with, and no longer: not after the next merge, and not for what
// the base did since.
import { chmodSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import type { WorkspaceRecord } from "../../src/engine/workspaces/record.ts";
import { Fixture, treeOf } from "./fixture.ts";

const text = (edits: Readonly<Record<number, string>> = {}) =>
  Array.from({ length: 20 }, (_, i) => `${edits[i] ?? `line ${i}`}\n`).join("");

function write(root: string, content: string, mode = 0o644): void {
  rmSync(join(root, "f.txt"), { force: true }); // in a fork of hard links, the file is the base's too
  writeFileSync(join(root, "f.txt"), content);
  chmodSync(join(root, "f.txt"), mode);
}

async function isRefused({ workspaces, opener }: Fixture, fork: WorkspaceRecord): Promise<void> {
  await expect(workspaces.merge(fork, opener)).rejects.toMatchObject({ code: "merge_conflict" });
}

it("a report does not count after the next merge, even if the base writes the reported line again", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "f.txt": text() });
  write(fork.root, text({ 5: "fork 1" }));
  write(base, text({ 5: "base 1" }));
  await isRefused(fixture, fork);
  write(fork.root, text({ 5: "fork 2" }));
  await fixture.workspaces.merge(fork, fixture.opener);
  expect(treeOf(base)).toEqual({ "f.txt": text({ 5: "fork 2" }) });
  write(base, text({ 5: "base 1" }));
  write(fork.root, text({ 5: "fork 3" }));
  await isRefused(fixture, fork);
  expect(treeOf(base)).toEqual({ "f.txt": text({ 5: "base 1" }) });
});

it("a merge that was undone is repeated without resolving its conflicts again, but not those that are new", async () => {
  using fixture = new Fixture();
  const { base, fork } = await fixture.forked({ "f.txt": text() });
  write(fork.root, text({ 5: "fork" }));
  write(base, text({ 5: "base" }));
  await isRefused(fixture, fork);
  write(fork.root, text({ 5: "both" }));
  const merge = () => fixture.workspaces.merge(fork, fixture.opener);
  const main = await fixture.workspaces.find("main");
  using workspace = fixture.workspaces.openTree(main, fixture.opener, "read-write");
  const { change = "" } = await merge();
  const undone = await undo(workspace, { change });
  expect(treeOf(base)).toEqual({ "f.txt": text({ 5: "base" }) });
  await merge();
  expect(treeOf(base)).toEqual({ "f.txt": text({ 5: "both" }) });
  await undo(workspace, {});
  write(base, text({ 5: "base again" }));
  await isRefused(fixture, fork);
  write(base, text({ 5: "base" }));
  await undo(workspace, { change: undone.commit?.id });
  expect(treeOf(base)).toEqual({ "f.txt": text({ 5: "both" }) });
  write(base, text({ 5: "base" }));
  write(fork.root, text({ 5: "fork again" }));
  await isRefused(fixture, fork);
});

describe("a conflict of permissions that was reported", () => {
  const cases = {
    "is resolved by other permissions": { fork: 0o711, becomes: 0o711 },
    "is not resolved by an edit": { fork: 0o700, content: text({ 2: "fork" }), becomes: 0o755 },
    "is not resolved for permissions that the base has got since": {
      fork: 0o711,
      base: 0o750,
      becomes: 0o750,
    },
  };
  it.each(Object.entries(cases))("%s", async (_, { becomes, ...next }) => {
    using fixture = new Fixture();
    const { base, fork } = await fixture.forked({ "f.txt": text() });
    const content = "content" in next ? next.content : text();
    write(fork.root, text(), 0o700);
    write(base, text(), 0o755);
    await isRefused(fixture, fork);
    write(fork.root, content, next.fork);
    if ("base" in next) write(base, text(), next.base);
    if (becomes === next.fork) await fixture.workspaces.merge(fork, fixture.opener);
    else await isRefused(fixture, fork);
    expect(statSync(join(base, "f.txt")).mode & 0o777).toBe(becomes);
  });
});

it("an overlap that the report had no room for is not resolved by rewriting what it showed", async () => {
  using fixture = new Fixture();
  const lines = (edits: (i: number) => string | undefined) =>
    Array.from({ length: 1500 }, (_, i) => `${edits(i) ?? `line ${i}`}\n`).join("");
  /** Blocks of 300 lines that both sides edit, with lines between them that neither does. */
  const blocks = (name: string) => lines(i => (i % 500 < 300 ? `${name} ${i}` : undefined));
  const { base, fork } = await fixture.forked({ "f.txt": lines(() => undefined) });
  write(fork.root, blocks("fork"));
  write(base, blocks("base"));
  await isRefused(fixture, fork);
  write(fork.root, blocks("both"));
  await isRefused(fixture, fork);
  expect(treeOf(base)).toEqual({ "f.txt": blocks("base") });
});
