// The client for PostgreSQL is loaded with an address of one, and otherwise costs nothing.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it } from "vitest";
import { tree } from "../http/fixture.ts";
import { polyfs } from "./program.ts";

/** Notes which files of the program are read: as modules, or as compiled code. */
const tracer = `
const fs = require("fs");
const seen = new Set();
for (const name of ["readFileSync", "openSync"]) {
  const original = fs[name];
  fs[name] = (path, ...more) => { seen.add(String(path)); return original(path, ...more); };
}
const modules = require("module");
const resolve = modules._resolveFilename;
modules._resolveFilename = (...asked) => { const file = resolve(...asked); seen.add(file); return file; };
process.on("exit", () => fs.writeFileSync(process.env.SEEN, [...seen].join("\\n")));
`;

it.each([
  ["absent", undefined, ["polyfs.cjs", "program.cjs"]],
  ["a database", "postgres://127.0.0.1:1/none", ["polyfs.cjs", "program.cjs", "postgres.cjs"]],
])("what is loaded where --store is %s", (_, store, expected) => {
  const base = tree();
  const [preload, seen, served] = ["tracer.cjs", "seen", "served"].map(name => join(base, name));
  mkdirSync(String(served));
  writeFileSync(String(preload), tracer);
  const env = {
    ...{ NODE_OPTIONS: `--require ${preload}`, SEEN: String(seen) },
    POLYFS_STATE_DIR: join(base, "state"),
  };
  const options = store === undefined ? [] : ["--store", store];
  polyfs(["call", "list_directory", "{}", ...options], { env, cwd: String(served) });
  const files = readFileSync(String(seen), "utf8").split("\n");
  expect(files.filter(file => file.endsWith(".cjs") && file !== preload).map(file => basename(file))).toEqual(
    expected,
  );
});
