// A state directory in which somebody else has put journals. Recovery does what polyfs has written, where this process
// may write, and nothing else.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { Ground } from "./ground.ts";
import { deedsAt, namesTo, plant } from "./planted.ts";

/** A ground with a state directory that has been used, a victim in each directory, and a read-only root. */
async function grounds(): Promise<Ground> {
  const ground = new Ground({ victim: "inside", "sub/x": "x" });
  writeFileSync(join(ground.outside, "victim"), "outside");
  mkdirSync(join(ground.inside, "kept"));
  writeFileSync(join(ground.inside, "kept/victim"), "kept");
  await ground.commit([ground.write("first", "opens the state")]);
  await ground.workspace.settled();
  ground.workspace[Symbol.dispose]();
  ground.reopen();
  return ground;
}

const keyOf = (ground: Ground) => readFileSync(join(ground.state, "key"));

/** What is there after another process has started, which recovers. */
function recovered(ground: Ground) {
  const roots = [
    { path: ground.inside, access: "read-write" },
    { path: join(ground.inside, "kept"), access: "read-only" },
  ] as const;
  using _ = Workspace.open(roots, { state: ground.state });
  return everything(ground);
}

function everything(ground: Ground): Record<string, Record<string, string>> {
  return { inside: ground.tree(), outside: ground.tree(ground.outside) };
}

describe("a journal that somebody planted", () => {
  it("does nothing outside the roots, in a read-only one, or in the state directory, authentic or not", async () => {
    using ground = await grounds();
    const before = everything(ground);
    const key = keyOf(ground);
    const places = [ground.outside, ground.base, "/", join(ground.inside, "kept"), ground.state];
    for (const place of places)
      for (const name of ["victim", "new"])
        for (const deed of deedsAt(place, name)) {
          plant(ground.state, deed, key);
          expect(recovered(ground), `${deed.story} in ${place}`).toEqual(before);
        }
    expect(keyOf(ground)).toEqual(key);
  });

  it("does nothing under what is no single name, authentic or not", async () => {
    using ground = await grounds();
    const before = everything(ground);
    for (const name of namesTo("outside", "victim"))
      for (const deed of deedsAt(ground.inside, name)) {
        plant(ground.state, deed, keyOf(ground));
        expect(recovered(ground), deed.story).toEqual(before);
      }
  });

  it("does nothing inside either where it is not authentic", async () => {
    using ground = await grounds();
    const before = everything(ground);
    for (const name of ["victim", "new"])
      for (const deed of deedsAt(ground.inside, name)) {
        plant(ground.state, deed, randomBytes(32));
        expect(recovered(ground), deed.story).toEqual(before);
      }
  });

  it("is recovered where it is authentic and inside, which shows that the others could have been", async () => {
    using ground = await grounds();
    const { create } = Object.fromEntries(
      deedsAt(ground.inside, "new").map(deed => [deed.story.split(" ")[0], deed]),
    );
    if (create === undefined) throw new Error("no such deed");
    plant(ground.state, create, keyOf(ground));
    expect(recovered(ground)).toMatchObject({ inside: { new: "planted" } });
  });
});

describe("a journal of a root that this process was not granted", () => {
  it("waits for one that was", async () => {
    using ground = await grounds();
    const [create] = deedsAt(ground.outside, "new");
    if (create === undefined) throw new Error("no such deed");
    plant(ground.state, create, keyOf(ground));
    expect(recovered(ground)).not.toHaveProperty(["outside", "new"]);
    using _ = Workspace.open([{ path: ground.outside, access: "read-write" }], { state: ground.state });
    expect(ground.tree(ground.outside)).toMatchObject({ new: "planted" });
  });

  it("is not kept from it by what was recovered, which is not done again", async () => {
    using ground = await grounds();
    const [inside] = deedsAt(ground.inside, "new");
    const [outside] = deedsAt(ground.outside, "new");
    if (inside === undefined || outside === undefined) throw new Error("no such deed");
    plant(ground.state, inside, keyOf(ground));
    // Both in one folder, as a process leaves them that served both.
    const processes = join(ground.state, "processes");
    const [folder = ""] = readdirSync(processes).filter(name => name.startsWith("1-"));
    plant(ground.state, { ...outside, intent: { ...outside.intent, id: "another" } }, keyOf(ground));
    const [other = ""] = readdirSync(processes).filter(name => name.startsWith("1-") && name !== folder);
    writeFileSync(join(processes, folder, "journal-1"), readFileSync(join(processes, other, "journal-0")));
    expect(recovered(ground)).toMatchObject({ inside: { new: "planted" } });
    writeFileSync(join(ground.inside, "new"), "changed since, in the same file");
    using both = Workspace.open(
      [ground.inside, ground.outside].map(path => ({ path, access: "read-write" as const })),
      { state: ground.state },
    );
    expect(both.roots).toHaveLength(2);
    expect(ground.tree(ground.outside)).toMatchObject({ new: "planted" });
    expect(ground.text("new")).toBe("changed since, in the same file");
  });
});
