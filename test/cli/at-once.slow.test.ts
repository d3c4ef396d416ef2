// Commands that change one file of the program at the same time: each change is there afterwards.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { polyfs, repository, tree } from "./program.ts";

const names = Array.from({ length: 10 }, (_, i) => `n${i}`);

/** Runs them all at the same time. */
async function atOnce(commands: readonly (readonly string[])[], env: Readonly<Record<string, string>> = {}) {
  const codes = commands.map(async args => {
    const program = join(repository, "dist/polyfs.cjs");
    const child = spawn(process.execPath, [program, ...args], {
      stdio: "ignore",
      env: { ...process.env, ...env },
    });
    return (await once(child, "exit"))[0];
  });
  expect(await Promise.all(codes)).toEqual(commands.map(() => 0));
}

it("tokens are added, removed and rotated, and no command undoes another one", async () => {
  const directory = tree();
  const file = join(directory, "tokens.json");
  const token = (...args: readonly string[]) => ["token", ...args, "--tokens", file];
  for (const name of ["gone", "rotated"]) expect(polyfs(token("add", name)).code).toBe(0);
  const hashOf = (name: string) =>
    JSON.parse(readFileSync(file, "utf8")).tokens.find((one: { name: string }) => one.name === name)?.hash;
  const before = hashOf("rotated");
  await atOnce([
    token("remove", "gone"),
    token("rotate", "rotated"),
    ...names.map(name => token("add", name)),
  ]);
  expect(hashOf("gone")).toBeUndefined();
  expect(hashOf("rotated")).not.toBe(before);
  for (const name of names) expect(hashOf(name)).toBeDefined();
  expect(readdirSync(directory)).toEqual(["tokens.json"]);
});

it("grants are given and revoked, and no command undoes another one", async () => {
  const [directory, config] = [tree(), tree()];
  const env = { XDG_CONFIG_HOME: config };
  const path = (name: string) => join(directory, name);
  expect(polyfs(["grant", path("gone")], { env }).code).toBe(0);
  await atOnce([["revoke", path("gone")], ...names.map(name => ["grant", path(name)])], env);
  const granted = JSON.parse(polyfs(["grants", "--json"], { env }).stdout);
  expect(granted.map(({ at }: { at: string }) => at).toSorted()).toEqual(names.map(path));
});
