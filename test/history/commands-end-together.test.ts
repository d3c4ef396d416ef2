// Commands that end together: what a third one wrote meanwhile is recorded once.
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Before, record } from "../../src/engine/history/footprint.ts";
import type { Snapshot } from "../../src/engine/workspace/archive/snapshot.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

const by = (c: string) => ({ action: "run_command", client: c, connection: c });
it("a line that a command writes while two others are being recorded is recorded once", async () => {
  const results: number[] = [];
  for (let i = 0; i < 8; i++) {
    const base = mkdtempSync(join(tmpdir(), "polyfs-twice-"));
    const root = join(base, "root");
    mkdirSync(root);
    const file = join(root, "s.txt");
    writeFileSync(file, "start\n");
    const workspace = Workspace.open([{ path: root, access: "read-write" }], { state: join(base, "state") });
    const views = ["a", "b", "c"].map(c => workspace.as(by(c)));
    const looks: Before[] = [];
    for (const view of views) looks.push(await Before.look(view));
    const lock = join(base, "state", "commands", "recording");
    writeFileSync(lock, "0-0-0-0");
    appendFileSync(file, "B\n");
    const finish = async (k: number) => {
      const [view, look] = [views[k] as Workspace, looks[k] as Before];
      await record(view, await look.compare(), by(`${k}`));
      look[Symbol.dispose]();
    };
    const b = finish(1);
    await new Promise(r => setTimeout(r, 250));
    appendFileSync(file, "T\n"); // of c, which still runs
    const a = finish(0);
    await new Promise(r => setTimeout(r, 250));
    rmSync(lock, { force: true });
    await Promise.all([a, b]);
    await finish(2);
    const { changes, objects } = workspace.archive;
    const text = (snapshot: Snapshot | undefined) =>
      snapshot?.kind === "file" && snapshot.hash !== undefined ? String(objects.get(snapshot.hash)) : "";
    const claims = [...changes.newest()].filter(({ files }) =>
      files.some(f => text(f.after).includes("T\n") && !text(f.before).includes("T\n")),
    );
    results.push(claims.length);
    workspace[Symbol.dispose]();
    rmSync(base, { recursive: true, force: true });
  }
  expect(results).toEqual(results.map(() => 1));
});
