// A server that is killed at any moment leaves a history that fits the files: what is on the disk is recorded, what
// is recorded is on the disk, and all of it can be undone.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bundle } from "../commit/bundle.ts";

const kills = Number(process.env.POLYFS_HISTORY_KILLS ?? 8);

it(`${kills} kills: the history matches what happened, and undoing it restores the start`, async () => {
  using script = await bundle("worker.ts");
  for (let kill = 0; kill < kills; kill++) {
    const base = mkdtempSync(join(tmpdir(), "polyfs-killed-"));
    const inside = join(base, "inside");
    mkdirSync(inside);
    for (let i = 0; i < 8; i++) writeFileSync(join(inside, `f${i}`), "before");
    const child = spawn(process.execPath, [script.path, "patches", base], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise(resolve => child.stdout.once("data", resolve));
    await sleep(5 + Math.random() * 60);
    child.kill("SIGKILL");
    await new Promise(resolve => child.once("close", resolve));

    using workspace = Workspace.open([{ path: inside, access: "read-write" }], {
      state: join(base, "state"),
    });
    const version = Number.parseInt(readFileSync(join(inside, "f0"), "utf8"), 10);
    const changes = await listChanges(workspace, { limit: 10_000 });
    expect(changes).toHaveLength(version);
    for (const { id } of changes) await undo(workspace, { change: id });
    await workspace.settled();
    expect(readdirSync(inside)).toEqual(["f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"]);
    for (const name of readdirSync(inside)) expect(readFileSync(join(inside, name), "utf8")).toBe("before");
    rmSync(base, { recursive: true });
  }
});
