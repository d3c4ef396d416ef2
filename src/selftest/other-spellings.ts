// File systems that take several spellings of a name for one (macOS, Windows): by case, and by the form of Unicode. A
// file is found by each of them, keeps the spelling that it has, and two spellings in one change are one file.
import { mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Fixture } from "./fixture.ts";
import type { Section } from "./section.ts";
import type { ServedProgram } from "./served-program.ts";

/** Two spellings of one name, where the file system here takes them for one. */
export async function otherSpellings(
  section: Section,
  fixture: Fixture,
  server: ServedProgram,
  [first, second]: readonly [string, string],
): Promise<void> {
  const directory = `spelled-${first}`;
  const names = () => readdirSync(join(fixture.root, directory)).join();
  const [one, other] = [`${directory}/${first}`, `${directory}/${second}`];
  const original = "alpha\nmiddle\nomega\n";
  fixture.write(one, original);
  const edit = (path: string, old: string, fresh: string) =>
    server.call("edit_file", { path, edits: [{ old, new: fresh }] });
  await section.tells(`${second} is read`, server.call("read_file", { path: other }), "middle");
  await section.tells(`${second} is edited`, edit(other, "middle", "MIDDLE"), "edited");
  section.holds("the file keeps the spelling of its name", names() === first, names());
  section.holds("the edit is in it", fixture.text(one) === original.replace("middle", "MIDDLE"));
  await section.tells("the edit is undone", server.call("undo", {}), "undid");
  const rename = server.call("move_path", { from: one, to: other });
  if (canRespell(fixture, first, second)) {
    await section.tells("it is renamed", rename, "moved");
    section.holds("to the other spelling", names() === second, names());
    section.holds("with its content", fixture.text(other) === original);
    await section.tells("the rename is undone", server.call("undo", {}), "undid");
    const both = `*** Update File: ${one}\n*** Move to: ${other}\n@@\n-middle\n+MIDDLE\n`;
    const patched = server.call("apply_patch", { patch: `*** Begin Patch\n${both}*** End Patch\n` });
    await section.tells("a patch edits it and renames it", patched, "change ");
    section.holds("to the other spelling, too", names() === second, names());
    section.holds("with the edit", fixture.text(other) === original.replace("middle", "MIDDLE"));
    await section.tells("the patch is undone", server.call("undo", {}), "undid");
    section.holds("with the content as it was before", fixture.text(one) === original);
  } else {
    section.notes.push(`renaming ${first} to ${second} not shown: a rename keeps the spelling here`);
    await section.tells("a rename that the system does not do is refused", rename, "ENOTSUP");
    section.holds("with the content as it was", fixture.text(one) === original);
  }
  section.holds("it has the spelling that it had", names() === first, names());
  const hunk = (path: string, line: string) =>
    `*** Update File: ${path}\n@@\n-${line}\n+${line.toUpperCase()}\n`;
  const patch = `*** Begin Patch\n${hunk(one, "alpha")}${hunk(other, "omega")}*** End Patch\n`;
  const told = await server.call("apply_patch", { patch });
  const wanted = /^[a-z_]+: /.test(told) ? original : "ALPHA\nmiddle\nOMEGA\n";
  section.holds("a patch by both spellings loses neither part", fixture.text(one) === wanted, told);
  section.holds("and makes no second file", names() === first, names());
}

/** Whether the system changes the spelling of a name when asked to: Wine does not, and answers as if it had. */
function canRespell(fixture: Fixture, first: string, second: string): boolean {
  const directory = join(fixture.base, `respelled-${first}`);
  mkdirSync(directory);
  writeFileSync(join(directory, first), "");
  renameSync(join(directory, first), join(directory, second));
  return readdirSync(directory).join() === second;
}
