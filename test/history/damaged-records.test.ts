// Records of history as a bad disk or another program leaves them: each field is of another kind, or not there. A record
// that is not whole counts as missing, and the others are still listed and undone.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listChanges } from "../../src/engine/history/changes.ts";
import { Before, record } from "../../src/engine/history/footprint.ts";
import { undo } from "../../src/engine/history/undo.ts";
import { Archive } from "../../src/engine/workspace/archive/archive.ts";
import { listedIn } from "../../src/engine/workspace/archive/snapshot.ts";
import { Fixture } from "../commit/fixture.ts";

type Path = readonly (string | number)[];

function* pathsIn(value: unknown, path: Path = []): Generator<Path> {
  yield path;
  if (typeof value !== "object" || value === null) return;
  for (const key of Object.keys(value))
    yield* pathsIn((value as Record<string, unknown>)[key], [...path, Array.isArray(value) ? +key : key]);
}

/** A copy with another value at a path. */
function changed(value: unknown, [key, ...rest]: Path, to: unknown): unknown {
  if (key === undefined) return to;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[key] = changed(copy[key], rest, to);
  return copy;
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce((found, key) => (found as Record<string | number, unknown>)[key], value);
}

/** Values of all kinds but that of the given one. */
function othersThan(value: unknown): unknown[] {
  const kindOf = (one: unknown) => (Array.isArray(one) ? "list" : one === null ? "null" : typeof one);
  return [null, 0.5, "x", true, [null], { kind: "x" }].filter(one => kindOf(one) !== kindOf(value));
}

/** A history with every kind of record, those of two commands at the same time among them. */
async function history() {
  const fixture = new Fixture({ a: "a\n", "t/u": "u\n", old: "o\n" });
  const { workspace } = fixture;
  const at = (path: string) => workspace.at(path);
  const bytes = Buffer.from("new\n");
  await workspace.commit([{ kind: "write", path: at("a"), bytes }]);
  await workspace.commit([{ kind: "write", path: at("p/q/r"), bytes, expect: "absent" }], { parents: true });
  await workspace.commit([{ kind: "move", from: at("t"), to: at("t2") }]);
  await workspace.commit([{ kind: "move", from: at("a"), to: at("old"), overwrite: true }]);
  await workspace.commit([{ kind: "copy", from: at("t2"), to: at("t3") }]);
  await workspace.commit([{ kind: "remove", path: at("t3"), recursive: true }]);
  await workspace.commit([{ kind: "symlink", path: at("l"), target: "old" }]);
  await undo(workspace);
  const other = workspace.as({ action: "run_command", client: "b", connection: "b" });
  using first = await Before.look(workspace);
  using second = await Before.look(other);
  mkdirSync(join(fixture.inside, "made"));
  writeFileSync(join(fixture.inside, "made/f"), "f\n");
  writeFileSync(join(fixture.inside, "old"), "command\n");
  await workspace.commit([{ kind: "write", path: at("old"), bytes }]);
  await record(workspace, await first.compare(), { action: "run_command", client: "a", connection: "a" });
  first[Symbol.dispose](); // the second one waits for that
  await record(workspace, await second.compare(), { action: "run_command", client: "b", connection: "b" });
  await workspace.othersRecorded();
  return fixture;
}

it("a record with a field of another kind counts as missing, and no other one does", async () => {
  using fixture = await history();
  const folder = join(fixture.state, "changes");
  const { changes } = fixture.workspace.archive;
  const names = readdirSync(folder).filter(name => name.endsWith(".json"));
  const fields = new Set<string>();
  const taken: string[] = [];
  for (const name of names) {
    const file = join(folder, name);
    const json = readFileSync(file, "utf8");
    const whole: unknown = JSON.parse(json);
    const id = name.slice(0, -".json".length);
    expect(changes.get(id)).toEqual(whole);
    for (const path of pathsIn(whole)) {
      fields.add(path.filter(key => typeof key === "string").join("."));
      for (const value of othersThan(valueAt(whole, path))) {
        writeFileSync(file, JSON.stringify(changed(whole, path, value)));
        if (changes.get(id) !== undefined) taken.push(`${path.join(".")} = ${JSON.stringify(value)}`);
      }
    }
    for (const value of [undefined, "elsewhere"]) {
      writeFileSync(file, JSON.stringify(changed(whole, ["id"], value)));
      if (changes.get(id) !== undefined) taken.push(`id = ${value}`);
    }
    writeFileSync(file, json);
  }
  expect(taken).toEqual([]);
  // The generator has made every field that can be damaged.
  expect([...fields]).toEqual(
    expect.arrayContaining([
      "files.from",
      "files.replaced.hash",
      "files.moved.born",
      "files.after.entries",
      "files.after.target",
      "parents",
      "undoes",
      "began",
      "looks.first",
      "looks.seen.between",
      "looks.seen.before.hash",
    ]),
  );
});

it("numbers that no date and no file has are not taken for times", async () => {
  using fixture = await history();
  const folder = join(fixture.state, "changes");
  const { changes } = fixture.workspace.archive;
  const taken: string[] = [];
  for (const name of readdirSync(folder).filter(one => one.endsWith(".json"))) {
    const file = join(folder, name);
    const json = readFileSync(file, "utf8");
    const whole: unknown = JSON.parse(json);
    const times = [...pathsIn(whole)].filter(path => /^(time|began|modified)$/.test(String(path.at(-1))));
    for (const path of times) {
      writeFileSync(file, JSON.stringify(changed(whole, path, 1e308)));
      if (changes.get(name.slice(0, -".json".length)) !== undefined) taken.push(path.join("."));
    }
    writeFileSync(file, json);
  }
  expect(taken).toEqual([]);
});

it("paths with detours are not taken for those of a commit: no rule would know them", async () => {
  using fixture = await history();
  const folder = join(fixture.state, "changes");
  const { changes } = fixture.workspace.archive;
  const name = readdirSync(folder).filter(one => one.endsWith(".json"))[0] ?? "";
  const whole = JSON.parse(readFileSync(join(folder, name), "utf8"));
  const at = (path: string) => {
    const made = changed(changed(whole, ["files", 0, "at"], path), ["files", 0, "from"], path);
    writeFileSync(join(folder, name), JSON.stringify(made));
    return changes.get(name.slice(0, -".json".length))?.files[0]?.at;
  };
  for (const path of ["/a/../b", "/a/./b", "/a//b", "/a/b/", "/a/b/.", "/a/b/..", "/a/.../b/.."])
    expect(at(path)).toBeUndefined();
  for (const path of ["/", "/a", "/.a/..b", "/a/...", "/a/b..", "/a b/\\x5c.."]) expect(at(path)).toBe(path);
});

it("damaged records leave the list, undo and later commands as they are without them", async () => {
  using fixture = await history();
  const { workspace, state, inside: root } = fixture;
  const folder = join(state, "changes");
  const ids = (await listChanges(workspace, { limit: 100 })).map(({ id }) => id);
  for (const id of ids) {
    const file = join(folder, `${id}.json`);
    const json = readFileSync(file, "utf8");
    const whole = JSON.parse(json) as Record<string, unknown>;
    for (const path of [["files", 0, "after"], ["files", 0, "from"], ["looks"], ["temporary"], ["client"]]) {
      writeFileSync(file, JSON.stringify(changed(whole, path, 0)));
      const left = (await listChanges(workspace, { limit: 100 })).map(one => one.id);
      expect(left).toEqual(ids.filter(one => one !== id));
      using before = await Before.look(workspace);
      writeFileSync(join(root, "old"), `${id} ${path.join(".")}\n`);
      expect((await before.compare()).changes.map(one => one.path)).toEqual([join(root, "old")]);
    }
    writeFileSync(file, json);
  }
  await expect(undo(workspace, { path: workspace.at("p/q/r") })).resolves.toMatchObject({});
});

it("a file of earlier records whose first line is damaged holds none", () => {
  using fixture = new Fixture({});
  mkdirSync(join(fixture.state, "earlier"), { recursive: true, mode: 0o700 });
  const { changes } = new Archive(fixture.state);
  for (const line of [
    0,
    null,
    {},
    [0],
    [null],
    [[]],
    [["a"]],
    [["a", "b"]],
    [[0, 1]],
    [["a", -1]],
    [["a", 0.5]],
  ]) {
    writeFileSync(join(fixture.state, "earlier/a-b-01234567.jsonl"), `${JSON.stringify(line)}\n{}\n`);
    expect(changes.ids()).toEqual([]);
    expect([...changes.newest()]).toEqual([]);
    expect(changes.get("a")).toBeUndefined();
  }
});

it("contents that are no listing are not taken for the entries of a directory", () => {
  using fixture = new Fixture({});
  mkdirSync(fixture.state, { mode: 0o700 });
  const { objects } = new Archive(fixture.state);
  const file = { kind: "file", mode: 0o644, size: 0, modified: 0 };
  const entries = ["text", "{}", "0", "null", "[0]", "[null]", '["a"]', "[{}]"];
  const named = [0, null, undefined].map(name => JSON.stringify([{ ...file, name }]));
  const others = [{ kind: "x" }, { mode: "" }, { size: -1 }, { hash: "../x" }].map(one =>
    JSON.stringify([{ ...file, name: "a", ...one }]),
  );
  for (const text of [...entries, ...named, ...others]) {
    const hash = objects.put(Buffer.from(text));
    expect(listedIn({ kind: "directory", mode: 0o755, entries: hash }, objects)).toBeUndefined();
  }
});
