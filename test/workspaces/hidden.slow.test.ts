// Forks of a tree in which rules hide something: neither a comparison nor a merge nor its refusal shows a hidden value or
// name, whatever the two sides did, and what is hidden does not stop the rest.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Engine, openEngine } from "../../src/engine/engine.ts";
import { Fault } from "../../src/engine/fault.ts";
import { Policy } from "../../src/engine/policy/policy.ts";
import type { CopyMethod } from "../../src/engine/workspaces/record.ts";
import { Fixture } from "./fixture.ts";

const value = "hunter2";
const hiddenName = "midnight";

const policy = new Policy([
  { paths: [".env"], access: "mask" },
  { paths: ["secrets/**", "*.pem"], access: "deny" },
  { paths: ["fixed.txt"], access: "read" },
]);

/** Lines enough for one file to be taken for another. */
function settings(name = "DB_NAME", password = value): string {
  const notes = (from: number) =>
    Array.from({ length: 4 }, (_, i) => `# a comment of some length, number ${from + i}\n`).join("");
  return `${notes(1)}${name}=\nPASSWORD=${password}\n${notes(5)}`;
}

const start = {
  ".env": settings(),
  "fixed.txt": "fixed\n",
  "pub.txt": settings("NAME", "-"),
  "secrets/key": settings("KEY"),
};

type Files = Readonly<Record<string, string | null>>;

/** The rules hold for everyone, or for one caller. */
type RulesOf = "the server" | "the caller";

/** What a caller under the rules learns from a comparison and a merge. */
async function learnt(
  of: RulesOf,
  fixture: Fixture,
  ours: Files,
  theirs: Files,
): Promise<{ told: string; base: string }> {
  return await learntAfter(of, fixture, [{ ours, theirs }]);
}

/** What the fork and the base write before one comparison and one merge. */
interface Step {
  /** What the base has when the fork is made. Only of the first step. */
  readonly start?: Files;
  readonly ours?: Files;
  readonly theirs?: Files;
  readonly prefer?: "base";
}

/** The same after each of several steps. */
async function learntAfter(
  of: RulesOf,
  fixture: Fixture,
  steps: readonly Step[],
): Promise<{ told: string; base: string }> {
  const { base, fork } = await fixture.forked({ ...start, ...(steps[0]?.start as Record<string, string>) });
  const workspaces = fixture.open("copy");
  const rules = { current: () => [policy] };
  const state = join(fixture.path, "state-2");
  using engine: Engine = openEngine({ roots: [], state, workspaces, ...(of === "the server" && { rules }) });
  const record = await workspaces.find("task");
  using opened = workspaces.openTree(record, engine.workspace, "read-write");
  using caller = of === "the server" ? opened.as({ action: "merge", client: "me" }) : opened.under(rules);
  const told: string[] = [];
  for (const { ours = {}, theirs = {}, prefer } of steps) {
    fixture.files(fork.root, ours);
    fixture.files(base, theirs);
    told.push(JSON.stringify(await workspaces.diff(record, caller)));
    try {
      told.push(JSON.stringify(await workspaces.merge(record, caller, { prefer })));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      told.push(JSON.stringify([error.code, error.data]));
    }
  }
  return { told: told.join("\n"), base };
}

describe.each<RulesOf>(["the server", "the caller"])("a fork with files that rules of %s hide", of => {
  const seen = (fixture: Fixture, ours: Files, theirs: Files) => learnt(of, fixture, ours, theirs);

  it("shows no masked value in a conflict with a file that looks like the masked one, renamed", async () => {
    using fixture = new Fixture("copy");
    const ours = { ".env": null, "copy.txt": settings("DB_NAME", "mine") };
    const { told } = await seen(fixture, ours, { ".env": settings("OTHER") });
    expect(told).toContain("merge_conflict");
    expect(told).not.toContain(value);
  });

  it("is merged without denied files, and does not name them", async () => {
    using fixture = new Fixture("copy");
    const ours = { "pub.txt": "ours\n", [`secrets/${hiddenName}`]: "x\n", [`${hiddenName}.pem`]: "x\n" };
    const { told, base } = await seen(fixture, ours, { "secrets/key": "theirs\n" });
    expect(told).not.toContain(hiddenName);
    expect(readFileSync(join(base, "pub.txt"), "utf8")).toBe("ours\n");
    expect(readFileSync(join(base, "secrets/key"), "utf8")).toBe("theirs\n");
    expect(existsSync(join(base, "secrets", hiddenName))).toBe(false);
  });

  it("is not merged into a file of the base that is read-only", async () => {
    using fixture = new Fixture("copy");
    const { told, base } = await seen(fixture, { "fixed.txt": "ours\n", "pub.txt": "ours\n" }, {});
    expect(told).toContain("forbidden");
    expect(readFileSync(join(base, "fixed.txt"), "utf8")).toBe("fixed\n");
  });

  it("says that the base deleted a file, not that it is denied now", async () => {
    using fixture = new Fixture("copy");
    const theirs = { "pub.txt": null, [`secrets/${hiddenName}`]: settings("NAME", "-") };
    const { told } = await seen(fixture, { "pub.txt": settings("NAME2", "-") }, theirs);
    expect(told).toContain("deleted_in_base");
    expect(told).not.toContain(hiddenName);
  });
});

describe("a fork of a tree with hidden files", () => {
  it("reveals no values and names, whatever both sides did", { timeout: 300_000 }, async () => {
    const mine: Files[] = [
      { ".env": null },
      { ".env": settings("A", "x") },
      { ".env": null, "a.txt": settings("DB_NAME", "x") },
      { ".env": settings("A", "x"), "a.txt": settings("B", "y") },
      { "pub.txt": null, "a.txt": settings("NAME", "z") },
      { "secrets/key": null, "a.txt": settings("KEY", "z") },
      { "pub.txt": settings("A", "x"), "b.txt": settings("KEY", "x") },
    ];
    const others: Files[] = [
      { ".env": settings("OTHER") },
      { ".env": null, "b.txt": settings("DB_NAME", "theirs") },
      { ".env": null, [`secrets/${hiddenName}`]: settings("DB_NAME") },
      { "pub.txt": null, [`${hiddenName}.pem`]: settings("NAME") },
      { "pub.txt": null, ".env": settings("NAME") },
      { "secrets/key": settings("OTHER"), [`secrets/${hiddenName}`]: settings() },
    ];
    for (const [i, ours] of mine.entries())
      for (const [j, theirs] of others.entries()) {
        using fixture = new Fixture("copy");
        const of = (i + j) % 2 === 0 ? "the server" : "the caller";
        const { told, base } = await learnt(of, fixture, ours, theirs);
        const label = JSON.stringify([of, ours, theirs]);
        expect(told, label).not.toContain(value);
        expect(told, label).not.toContain(hiddenName);
        for (const name of ["a.txt", "b.txt", "pub.txt"])
          if (existsSync(join(base, name)))
            expect(readFileSync(join(base, name), "utf8"), label).not.toContain(value);
      }
  });

  describe.each<CopyMethod>(["copy", "link"])("made by the method %s", method => {
    const newer = "hunter3";
    const guess = (text: string): Files => ({ ".env": settings("DB_NAME", text) });
    const programs: Readonly<Record<string, (text: string) => readonly Step[]>> = {
      "the value stays": text => [{ ours: guess(text) }],
      "something else changes too": text => [{ ours: { ".env": settings("OTHER", text) } }],
      "the base has a newer value": text => [{ ours: guess(text), theirs: guess(newer) }],
      "the base changes another line": text => [
        { ours: guess(text), theirs: { ".env": settings("OTHER", value) } },
      ],
      "the base deletes the file": text => [{ ours: guess(text), theirs: { ".env": null } }],
      "both add a file": text => [
        { ours: { "sub/.env": settings("A", text) }, theirs: { "sub/.env": settings("A", value) } },
      ],
      "the value was merged with another line before": text => [
        { ours: { ".env": settings("OTHER", value) } },
        { ours: { ".env": settings("OTHER", text) } },
      ],
      "a merge with the value was refused before": text => [
        { ours: { ".env": settings("OTHER", value) }, theirs: guess(newer) },
        { ours: { ".env": settings("OTHER", text) } },
      ],
      "a merge with the guess was refused before": text => [
        { ours: guess(text), theirs: guess(newer) },
        { ours: guess(newer) },
        { ours: guess("-") },
      ],
      "the base had the guess when the fork was made": text => [
        { start: guess(text), theirs: guess(value), ours: guess("-") },
      ],
      "the base had the guess when the fork was made, and the fork deletes the file": text => [
        { start: guess(text), theirs: guess(value), ours: { ".env": null } },
      ],
      "the guess was merged, and the base has its value back": text => [
        { ours: guess(text) },
        { theirs: guess(value), ours: guess("-") },
      ],
      "the base was preferred to the guess": text => [
        { ours: guess(text), theirs: guess(newer), prefer: "base" },
        { ours: guess("-") },
      ],
      "a merge was refused when the base had the guess": text => [
        { theirs: guess(text), ours: guess("-") },
        { theirs: guess(value), ours: guess("another") },
      ],
      "the base had the guess when a merge of a deletion was refused": text => [
        { theirs: guess(text), ours: { ".env": null } },
        { theirs: guess(value), ours: guess("another") },
        { ours: { ".env": null } },
      ],
    };

    it.each(Object.entries(programs))(
      "answers a right and a wrong guess in the same way: %s",
      async (_, program) => {
        const told: string[] = [];
        for (const text of [value, newer, "wrong guess"]) {
          using fixture = new Fixture(method);
          const after = await learntAfter("the server", fixture, program(text));
          told.push(after.told.replaceAll(/"change":"[^"]*"/g, ""));
        }
        expect(told[1]).toBe(told[0]);
        expect(told[2]).toBe(told[0]);
      },
    );

    it("differs by a masked file only after it was written, and not after that was merged", async () => {
      using fixture = new Fixture(method);
      const env = { ".env": settings("DB_NAME", "mine") };
      const again = { ".env": settings("DB_NAME", "mine again") };
      const steps = [{ ours: env }, { theirs: { "pub.txt": "theirs\n" } }, { ours: again }, {}];
      const { told, base } = await learntAfter("the server", fixture, steps);
      expect(told).not.toContain("merge_conflict");
      const found = told.split("\n").map(line => line.includes(".env"));
      expect(found).toEqual([true, true, false, false, true, true, false, false]);
      expect(readFileSync(join(base, ".env"), "utf8")).toBe(again[".env"]);
    });

    it("does not settle a conflict about a masked file, which a merge without the rules does", async () => {
      using fixture = new Fixture(method);
      const notes = settings().replace("number 8", "number 8 by the base");
      const steps: readonly Step[] = [
        { ours: { ".env": settings("MINE") }, theirs: { ".env": notes } },
        { ours: { ".env": settings("MINE_TOO") } },
        { ours: { ".env": null } },
        { ours: { ".env": settings("MINE_AGAIN"), "pub.txt": "ours\n" } },
      ];
      const { told, base } = await learntAfter("the server", fixture, steps);
      expect(told.match(/merge_conflict/g)).toHaveLength(4);
      expect(readFileSync(join(base, ".env"), "utf8")).toBe(notes);
      await fixture.workspaces.merge(await fixture.workspaces.find("task"), fixture.opener);
      expect(readFileSync(join(base, ".env"), "utf8")).toBe(notes.replace("DB_NAME", "MINE_AGAIN"));
      expect(readFileSync(join(base, "pub.txt"), "utf8")).toBe("ours\n");
    });

    it("is compared and merged with a masked file that is too large for a mask", async () => {
      using fixture = new Fixture(method);
      const ours = { ".env": `A=${"x".repeat(2 * 1024 * 1024)}\n`, "pub.txt": "ours\n" };
      const { told, base } = await learntAfter("the server", fixture, [{ ours }]);
      expect(told).not.toContain("forbidden");
      expect(readFileSync(join(base, ".env"), "utf8")).toBe(ours[".env"]);
    });
  });
});
