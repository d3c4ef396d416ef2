// Changes are recorded after their answers, and never more than a few of them are waited for: memory does not grow
// with the number of changes, and neither does the time that a caller waits for the history.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";
import { Fixture } from "../commit/fixture.ts";

/** Several writers at once, each to a file of its own; the most changes that were answered and not recorded. */
async function mostBehind(fixture: Fixture, writers: number, each: number, body: string): Promise<number> {
  let answered = 0;
  let most = 0;
  const recorded = () =>
    namesIn(join(fixture.state, "changes")).filter(name => name.endsWith(".json")).length;
  const write = async (writer: number) => {
    for (let i = 0; i < each; i++) {
      await fixture.commit([fixture.write(`file ${writer}`, `${body}${writer} ${i}`)]);
      most = Math.max(most, ++answered - recorded());
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return most;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

describe("changes that come without a pause", () => {
  it("wait until most of those before them are recorded", async () => {
    using fixture = new Fixture();
    expect(await mostBehind(fixture, 8, 40, "")).toBeLessThanOrEqual(64);
    expect(await listChanges(fixture.workspace, { limit: 1000 })).toHaveLength(320);
  });

  it("wait sooner where they are large", async () => {
    using fixture = new Fixture();
    const megabytes = 3;
    const body = "x".repeat(megabytes * 1024 * 1024);
    expect(await mostBehind(fixture, 4, 10, body)).toBeLessThanOrEqual(32 / megabytes + 4);
    expect(await listChanges(fixture.workspace, { limit: 1000 })).toHaveLength(40);
  });

  it("wait until old content is removed, where the disk is slow at that", async () => {
    using fixture = new Fixture();
    const { unlinkLater } = sys;
    let removed = 0;
    let most = 0;
    let answered = 0;
    sys.unlinkLater = async address => {
      await sleep(100);
      await unlinkLater(address);
      removed++;
    };
    try {
      const write = async (writer: number) => {
        for (let i = 0; i < 110; i++) {
          await fixture.commit([fixture.write(`file ${writer}`, `${writer} ${i}`)]);
          most = Math.max(most, ++answered - removed);
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    } finally {
      sys.unlinkLater = unlinkLater;
    }
    expect(removed).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(512 + 64 + 8);
    expect(await listChanges(fixture.workspace, { limit: 1000 })).toHaveLength(880);
  });

  it("do not wait for ever where nothing can be recorded", async () => {
    using fixture = new Fixture();
    mkdirSync(fixture.state, { recursive: true });
    writeFileSync(join(fixture.state, "changes"), "no directory");
    await mostBehind(fixture, 4, 50, "");
    expect(fixture.text("file 3")).toBe("3 49");
  });
});
