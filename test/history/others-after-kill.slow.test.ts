// A process is killed after it has put a copy in place, and others change the copy before the next process recovers.
// Undo must not take that away.
import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { bundle } from "../commit/bundle.ts";
import { Fixture, faultOf } from "../commit/fixture.ts";

it.each([
  ["", "stale"],
  [":full", "not_kept"],
] as const)(
  "copies%s: undo is refused as %s",
  async (full, refusal) => {
    using worker = await bundle("worker.ts");
    let killed = 0;
    for (let at = 1; ; at += 4) {
      using fixture = new Fixture({ "s/q": "q", "s/r/p": "p" });
      const args = [worker.path, "copies", fixture.base, at + full];
      const { signal } = spawnSync(process.execPath, args, { cwd: tmpdir() }); // our own may be gone
      appendFileSync(join(fixture.inside, "w/r/p"), "theirs");
      fixture.workspace.at("w");
      const [change] = await listChanges(fixture.workspace, { limit: 1 });
      const fault = await faultOf(undo(fixture.workspace, { change: change?.id }));
      expect([at, fault]).toEqual([at, refusal]);
      expect(fixture.text("w/r/p")).toBe("ptheirs");
      if (signal === null) break;
      killed++;
    }
    expect(killed).toBeGreaterThan(3);
  },
  600_000,
);
