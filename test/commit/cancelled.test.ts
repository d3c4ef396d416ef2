// A call that is cancelled in the middle of a commit: everything is done or nothing, and no staged content stays.
import { describe, expect, it } from "vitest";
import { watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

const before = { "a.txt": "one\n", "d/b.txt": "two\n", "d/c.txt": "three\n", "gone/x.txt": "x\n" };

function changes(fixture: Fixture) {
  return [
    fixture.write("a.txt", "ONE\n"),
    fixture.write("d/b.txt", "TWO\n"),
    fixture.write("new/e.txt", "new\n"),
    { kind: "move", from: fixture.at("d/c.txt"), to: fixture.at("moved.txt") },
    { kind: "remove", path: fixture.at("gone"), recursive: true },
  ] as const;
}

const kinds = {
  "a commit": (fixture: Fixture, signal: AbortSignal) =>
    fixture.commit(changes(fixture), { signal, parents: true }),
  "an edit": (fixture: Fixture, signal: AbortSignal) =>
    fixture.workspace.edit(fixture.at("a.txt"), async () => Buffer.from("ONE\n"), { signal }),
};

/** Cancels at the n-th system call. Undefined if it ended before that. */
async function cancelled(act: (typeof kinds)["a commit"], at: number) {
  using fixture = new Fixture(before);
  fixture.at("a.txt"); // opens the workspace
  const old = fixture.tree();
  const stop = new AbortController();
  const onCall = (count: number) => count === at && stop.abort();
  const error = await watching(onCall, () => act(fixture, stop.signal)).then(
    () => undefined,
    thrown => thrown,
  );
  if (!stop.signal.aborted) return undefined;
  const recorded = [...fixture.workspace.archive.changes.newest()].length;
  return { error, old, tree: fixture.tree(), recorded };
}

describe("cancelled at a system call,", () => {
  for (const [kind, act] of Object.entries(kinds)) {
    it(`${kind} leaves the old files or the new ones, and nothing else`, async () => {
      let refused = 0;
      for (let at = 1; ; at += 11) {
        const outcome = await cancelled(act, at);
        if (outcome === undefined) break;
        const { error, old, tree, recorded } = outcome;
        if (error === undefined) {
          expect(tree["a.txt"], `call ${at}`).toBe("ONE\n");
          expect(recorded, `call ${at}`).toBe(1);
          continue;
        }
        refused++;
        expect(error, `call ${at}`).toMatchObject({ name: "AbortError" });
        expect(tree, `call ${at}`).toEqual(old);
        expect(recorded, `call ${at}`).toBe(0);
      }
      expect(refused).toBeGreaterThan(2);
    });
  }
});
