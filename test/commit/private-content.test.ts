// What only its owner may read stays so while it is written: at no system call of a commit does another user find it in
// a file that is open to all, under whatever name.
import { chmodSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { undo } from "../../src/engine/history/undo.ts";
import { watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

const secret = "only for its owner";

/** Files with the secret that others may read. */
function open(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" }).filter(name => {
    const stat = lstatSync(join(directory, name), { throwIfNoEntry: false });
    if (stat?.isFile() !== true || (stat.mode & 0o077) === 0) return false;
    return readFileSync(join(directory, name), "utf8").includes(secret);
  });
}

const operations: Record<string, (fixture: Fixture) => Promise<unknown>> = {
  "an edit": fixture => fixture.commit([fixture.write("a", `${secret}, and more`)]),
  "a large edit": fixture => fixture.commit([fixture.write("a", secret.repeat(100_000))]),
  "a copy": fixture => fixture.commit([{ kind: "copy", from: fixture.at("a"), to: fixture.at("b") }]),
  "a copied tree": fixture => fixture.commit([{ kind: "copy", from: fixture.at("d"), to: fixture.at("e") }]),
  "a move with an edit": fixture =>
    fixture.commit([
      { kind: "move", from: fixture.at("a"), to: fixture.at("b"), bytes: Buffer.from(`${secret}!`) },
    ]),
  "the undo of an edit": async fixture => {
    const { id } = await fixture.commit([fixture.write("a", "nothing")]);
    await undo(fixture.workspace, { change: id });
  },
  "the undo of a removal": async fixture => {
    const { id } = await fixture.commit([{ kind: "remove", path: fixture.at("a") }]);
    await undo(fixture.workspace, { change: id });
  },
  "the undo of the removal of a tree": async fixture => {
    const { id } = await fixture.commit([{ kind: "remove", path: fixture.at("d"), recursive: true }]);
    await undo(fixture.workspace, { change: id });
  },
};

describe.skipIf(process.platform === "win32")("a file that only its owner may read", () => {
  it.each(Object.keys(operations))("is not open to others during %s", async name => {
    using fixture = new Fixture({ a: secret, "d/a": secret, "d/e/b": secret });
    for (const path of ["a", "d/a", "d/e/b"]) chmodSync(join(fixture.inside, path), 0o600);
    const seen = new Set<string>();
    let calls = 0;
    const look = (call: string) => {
      calls++;
      for (const file of open(fixture.inside)) seen.add(`${file}, before ${call}`);
    };
    await watching(
      (_, call) => look(call),
      async () => await operations[name]?.(fixture),
    );
    look("the end");
    expect(calls).toBeGreaterThan(5);
    expect([...seen]).toEqual([]);
  });
});
