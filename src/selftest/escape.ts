// Tries to get out of the root: by spellings, through links, and in a race with a program that swaps a directory for a
// link that leads outside while every tool is called through it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Fixture, secret } from "./fixture.ts";
import type { Section } from "./section.ts";
import type { ServedProgram } from "./served-program.ts";

const patch = (path: string) => `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n`;

/** A call of every tool that takes a path. What they make has a name of its own each time. */
function calls(at: (name: string) => string, round: number): (readonly [tool: string, args: object])[] {
  const fresh = at(`fresh-${round}`);
  return [
    ["read_file", { path: at("secret.txt") }],
    ["file_info", { path: at("secret.txt") }],
    ["list_directory", { path: at("") }],
    ["find_files", { pattern: "*", path: at("") }],
    ["search_text", { pattern: "SECRET", path: at("") }],
    ["write_file", { path: fresh, content: "x\n" }],
    ["edit_file", { path: at("secret.txt"), edits: [{ old: "SECRET", new: "GONE" }] }],
    ["replace_in_files", { paths: [at("secret.txt")], old: "SECRET", new: "GONE" }],
    ["apply_patch", { patch: patch(`${fresh}-patch`) }],
    ["create_directory", { path: `${fresh}-directory` }],
    ["copy_path", { from: at("secret.txt"), to: `copy-${round}` }],
    ["move_path", { from: at("secret.txt"), to: `moved-${round}` }],
    ["delete_path", { path: at("secret.txt") }],
  ];
}

export async function escapeByPaths(
  section: Section,
  fixture: Fixture,
  server: ServedProgram,
): Promise<void> {
  const links = [
    fixture.link("out", fixture.outside),
    fixture.link("out.txt", join(fixture.outside, "secret.txt")),
  ];
  if (links.includes(false)) section.notes.push("symbolic links cannot all be made here");
  const before = JSON.stringify(fixture.tree(fixture.outside));
  const ways = [(name: string) => `../outside/${name}`, (name: string) => join(fixture.outside, name)];
  if (links[0]) ways.push(name => `out/${name}`);
  for (const [round, way] of ways.entries()) {
    for (const [tool, args] of calls(name => way(name).replace(/[\\/]$/, ""), round)) {
      const told = await server.call(tool, args);
      section.holds(`${tool} does not get out by ${way("x")}`, !told.includes(secret), told);
    }
  }
  if (links[1])
    await section.tells(
      "a link to a file outside is refused",
      server.call("read_file", { path: "out.txt" }),
      "outside_roots",
    );
  section.holds("nothing outside has changed", JSON.stringify(fixture.tree(fixture.outside)) === before);
}

/** The other program: a directory and a link by turns under one name, as fast as it can, until its input ends. */
const swapper = `
const fs = require("node:fs");
const [name, link, target] = process.argv.slice(1);
const parked = link + "-parked";
const attempt = action => { try { action(); return true; } catch { return false; } };
attempt(() => fs.symlinkSync(target, link, "junction"));
let over = false, swaps = 0;
process.stdin.on("end", () => { over = true; }).resume();
(function turn() {
  for (let i = 0; i < 100; i++) {
    if (attempt(() => fs.renameSync(name, parked))) swaps++;
    if (attempt(() => fs.renameSync(link, name))) swaps++;
    attempt(() => fs.renameSync(name, link));
    attempt(() => fs.renameSync(parked, name));
  }
  if (over) process.stdout.write(String(swaps)); else setImmediate(turn);
})();`;

/** This many calls per second are made even where the machine is slow, unless that takes so much longer. */
const fewest = 15;
const mostSeconds = 30;

/** `isPromised`: whether this platform promises containment; if not, breaches are reported but are no failure. */
export async function escapeInRace(
  section: Section,
  fixture: Fixture,
  server: ServedProgram,
  seconds: number,
  isPromised: boolean,
): Promise<void> {
  if (!fixture.link("probe", fixture.outside)) {
    section.notes.push("not run: symbolic links cannot be made here");
    return;
  }
  const field = join(fixture.root, "race");
  for (const path of [field, join(field, "d")]) mkdirSync(path);
  writeFileSync(join(field, "d", "secret.txt"), "PUBLIC SECRET\n");
  const before = JSON.stringify(fixture.tree(fixture.outside));
  const paths = [join(field, "d"), join(field, "link"), fixture.outside];
  const attacker = spawn(process.execPath, ["-e", swapper, ...paths], { stdio: ["pipe", "pipe", "ignore"] });
  let swaps = "";
  attacker.stdout.setEncoding("utf8").on("data", text => (swaps += text));
  const met = { breaches: 0, answered: 0, refused: 0 };
  const begun = Date.now();
  const isOver = () => {
    const passed = (Date.now() - begun) / 1000;
    if (met.breaches > 0 || passed > seconds + mostSeconds) return true;
    return passed > seconds && met.answered + met.refused >= fewest * seconds;
  };
  let round = 0;
  // Several callers, so that quick calls do not wait for slow ones.
  const caller = async () => {
    while (!isOver()) {
      for (const [tool, args] of calls(name => (name === "" ? "race/d" : `race/d/${name}`), ++round)) {
        const told = await server.call(tool, args);
        met[/^[a-z_]+: /.test(told) ? "refused" : "answered"]++;
        if (told.includes(secret) || JSON.stringify(fixture.tree(fixture.outside)) !== before) met.breaches++;
        if (isOver()) return;
      }
      await server.call("write_file", { path: "race/d/secret.txt", content: "PUBLIC SECRET\n" });
    }
  };
  await Promise.all([caller(), caller(), caller(), caller()]);
  attacker.stdin.end();
  await once(attacker, "close");
  section.tried += met.answered + met.refused;
  section.notes.push(
    `${met.answered} answered, ${met.refused} refused, ${swaps} swaps, ${met.breaches} breaches`,
  );
  if (met.breaches > 0 && !isPromised) section.notes.push("not promised on this platform");
  if (met.breaches > 0 && isPromised) section.failures.push(`${met.breaches} calls got out of the root`);
}
