// What has to work anywhere: reading, listing, finding, searching, writing, editing, copying, moving, deleting, undoing,
// refusing, with the spellings of paths that this system has.
import { join } from "node:path";
import type { Fixture } from "./fixture.ts";
import type { Section } from "./section.ts";
import type { ServedProgram } from "./served-program.ts";

const onWindows = process.platform === "win32";

export async function roundTrip(section: Section, fixture: Fixture, server: ServedProgram): Promise<void> {
  fixture.write("crlf.txt", "one\r\ntwo\r\nthree\r\n");
  fixture.write("sub/deep/code.js", "const x = 1; // needle\n");
  fixture.write(".gitignore", "ignored/\n");
  fixture.write("ignored/other.js", "needle\n");
  const read = (path: string) => server.call("read_file", { path });
  await section.tells("a file is read", read("crlf.txt"), "2: two", "CRLF");
  await section.tells("by its absolute path", read(join(fixture.root, "crlf.txt")), "2: two");
  const listed = server.call("list_directory", { path: "." });
  await section.tells("a directory is listed", listed, "crlf.txt", "sub/");
  const found = server.call("find_files", { pattern: "**/*.js" });
  await section.tells("files are found by pattern", found, "sub/deep/code.js", "[1 found]");
  for (const pattern of ["needle", "n[e]{2}dle"]) {
    const hits = server.call("search_text", { pattern });
    await section.tells(`text is found by ${pattern}`, hits, "sub/deep/code.js", "1 match");
  }
  fixture.write("old.txt", Buffer.from("gut\nf\u00e4llt sch\u00f6nes \u00d6l\n", "latin1"));
  const old = server.call("search_text", { pattern: "f.llt sch" });
  await section.tells("text in an old encoding is found by f.llt", old, "2: f\u00e4llt sch\u00f6nes \u00d6l");
  if (onWindows) await windowsSpellings(section, fixture, read);
  const edit = { path: "crlf.txt", edits: [{ old: "two", new: "TWO" }] };
  await section.tells("a file is edited", server.call("edit_file", edit), "edited");
  section.holds("line endings stay", fixture.text("crlf.txt") === "one\r\nTWO\r\nthree\r\n");
  await section.tells("the edit is undone", server.call("undo", {}), "undid");
  section.holds("every byte is back", fixture.text("crlf.txt") === "one\r\ntwo\r\nthree\r\n");
  const write = (content: string) => server.call("write_file", { path: "new/dir/b.txt", content });
  await section.tells("a file is written into new directories", write("b\n"), "created");
  await section.tells("it is overwritten", write("c\n"), "overwrote");
  section.holds("and holds what was written", fixture.text("new/dir/b.txt") === "c\n");
  await section.tells("a tree is copied", server.call("copy_path", { from: "sub", to: "copy" }), "copied");
  await section.tells("it is moved", server.call("move_path", { from: "copy", to: "new/moved" }), "moved");
  const doomed = { path: "new/moved", recursive: true };
  await section.tells("it is deleted", server.call("delete_path", doomed), "deleted");
  await section.tells("that is undone", server.call("undo", {}), "restored");
  section.holds(
    "all of it is back",
    fixture.text("new/moved/deep/code.js") === fixture.text("sub/deep/code.js"),
  );
}

/** However people on Windows write a path, it is the same file; what Windows would open as something else is refused. */
async function windowsSpellings(
  section: Section,
  { root }: Fixture,
  read: (path: string) => Promise<string>,
): Promise<void> {
  const drive = root[0] ?? "C";
  const slashed = root.slice(2).replaceAll("\\", "/");
  for (const path of [
    `${drive.toLowerCase()}:${slashed}/crlf.txt`,
    `${root.toUpperCase()}\\CRLF.TXT`,
    `file:///${drive}:${slashed}/crlf.txt`,
    `file:///${drive}%3A${slashed}/crlf.txt`,
    `\\\\?\\${root}\\crlf.txt`,
  ])
    await section.tells(`the spelling ${path} is understood`, read(path), "2: two");
  const others = [
    "CONIN$",
    "nul",
    "com1.txt",
    "crlf.txt:stream",
    "crlf.txt.",
    "PROGRA~1",
    "\\\\.\\C:",
    "C:x",
  ];
  for (const path of others) await section.tells(`${path} is refused`, read(path), "invalid_input");
  await section.tells(
    "a share is refused that was not granted",
    read("\\\\server\\share\\x"),
    "outside_roots",
  );
}
