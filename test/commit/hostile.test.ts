// A state directory into which an attacker has put journals. Recovery does what polyfs has written, where this process
// may write, and nothing else.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Fixture } from "./fixture.ts";
import { deedsAt, namesTo, plant } from "./planted.ts";

/** A fixture with a state directory that has been used, a victim in each directory, and a read-only root. */
async function fixtures(): Promise<Fixture> {
  const fixture = new Fixture({ victim: "inside", "sub/x": "x" });
  writeFileSync(join(fixture.outside, "victim"), "outside");
  mkdirSync(join(fixture.inside, "kept"));
  writeFileSync(join(fixture.inside, "kept/victim"), "kept");
  await fixture.commit([fixture.write("first", "opens the state")]);
  await fixture.workspace.settled();
  fixture.workspace[Symbol.dispose]();
  fixture.reopen();
  return fixture;
}

const keyOf = (fixture: Fixture) => readFileSync(join(fixture.state, "key"));

/** What is there after another process has started, which recovers. */
function recovered(fixture: Fixture) {
  const roots = [
    { path: fixture.inside, access: "read-write" },
    { path: join(fixture.inside, "kept"), access: "read-only" },
  ] as const;
  using _ = Workspace.open(roots, { state: fixture.state });
  return everything(fixture);
}

function everything(fixture: Fixture): Record<string, Record<string, string>> {
  return { inside: fixture.tree(), outside: fixture.tree(fixture.outside) };
}

describe("a planted journal", () => {
  it("does nothing outside the roots, in a read-only one, or in the state directory, authentic or not", async () => {
    using fixture = await fixtures();
    const before = everything(fixture);
    const key = keyOf(fixture);
    const places = [fixture.outside, fixture.base, "/", join(fixture.inside, "kept"), fixture.state];
    for (const place of places)
      for (const name of ["victim", "new"])
        for (const deed of deedsAt(place, name)) {
          plant(fixture.state, deed, key);
          expect(recovered(fixture), `${deed.story} in ${place}`).toEqual(before);
        }
    expect(keyOf(fixture)).toEqual(key);
  });

  it("does nothing for a name that has several components, authentic or not", async () => {
    using fixture = await fixtures();
    const before = everything(fixture);
    for (const name of namesTo("outside", "victim"))
      for (const deed of deedsAt(fixture.inside, name)) {
        plant(fixture.state, deed, keyOf(fixture));
        expect(recovered(fixture), deed.story).toEqual(before);
      }
  });

  it("does nothing inside the roots, either, if it is not authentic", async () => {
    using fixture = await fixtures();
    const before = everything(fixture);
    for (const name of ["victim", "new"])
      for (const deed of deedsAt(fixture.inside, name)) {
        plant(fixture.state, deed, randomBytes(32));
        expect(recovered(fixture), deed.story).toEqual(before);
      }
  });

  it("is recovered if it is authentic and inside, which shows that the other cases test something", async () => {
    using fixture = await fixtures();
    const { create } = Object.fromEntries(
      deedsAt(fixture.inside, "new").map(deed => [deed.story.split(" ")[0], deed]),
    );
    if (create === undefined) throw new Error("no such deed");
    plant(fixture.state, create, keyOf(fixture));
    expect(recovered(fixture)).toMatchObject({ inside: { new: "planted" } });
  });
});

describe("a journal of a root that this process was not granted", () => {
  it("waits for a process that was granted it", async () => {
    using fixture = await fixtures();
    const [create] = deedsAt(fixture.outside, "new");
    if (create === undefined) throw new Error("no such deed");
    plant(fixture.state, create, keyOf(fixture));
    expect(recovered(fixture)).not.toHaveProperty(["outside", "new"]);
    using _ = Workspace.open([{ path: fixture.outside, access: "read-write" }], { state: fixture.state });
    expect(fixture.tree(fixture.outside)).toMatchObject({ new: "planted" });
  });

  it("does not delay a question about history", async () => {
    using fixture = await fixtures();
    const [create] = deedsAt(fixture.outside, "new");
    if (create === undefined) throw new Error("no such deed");
    plant(fixture.state, create, keyOf(fixture));
    const { workspace } = fixture;
    vi.useFakeTimers({ toFake: ["setTimeout"] }); // a wait would never end
    try {
      expect(await listChanges(workspace, { limit: 10 })).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it("stays for that process after the rest was recovered, and the rest is not recovered again", async () => {
    using fixture = await fixtures();
    const [inside] = deedsAt(fixture.inside, "new");
    const [outside] = deedsAt(fixture.outside, "new");
    if (inside === undefined || outside === undefined) throw new Error("no such deed");
    plant(fixture.state, inside, keyOf(fixture));
    // Both in one folder, as a process leaves them that served both.
    const processes = join(fixture.state, "processes");
    const [folder = ""] = readdirSync(processes).filter(name => name.startsWith("1-"));
    plant(fixture.state, { ...outside, intent: { ...outside.intent, id: "another" } }, keyOf(fixture));
    const [other = ""] = readdirSync(processes).filter(name => name.startsWith("1-") && name !== folder);
    writeFileSync(join(processes, folder, "journal-1"), readFileSync(join(processes, other, "journal-0")));
    expect(recovered(fixture)).toMatchObject({ inside: { new: "planted" } });
    writeFileSync(join(fixture.inside, "new"), "changed since, in the same file");
    using both = Workspace.open(
      [fixture.inside, fixture.outside].map(path => ({ path, access: "read-write" as const })),
      { state: fixture.state },
    );
    expect(both.roots).toHaveLength(2);
    expect(fixture.tree(fixture.outside)).toMatchObject({ new: "planted" });
    expect(fixture.text("new")).toBe("changed since, in the same file");
  });
});
