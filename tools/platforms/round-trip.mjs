// What a platform has to do right, through the protocol: read, list, find, search, write, edit, copy, move, delete,
// undo, refuse; two servers on one file; a server that is killed. `place` says how the tree is reached from here (`at`)
// and from the server (`served`), and starts servers.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const edits = 60;

/** Runs all cases; returns how many there were. The first that fails throws. */
export async function roundTrip(place) {
  const { at, served, start, windows = false, search = true } = place;
  const inTree = name => join(at, name);
  const content = name => readFileSync(inTree(name), "utf8");
  rmSync(at, { recursive: true, force: true });
  mkdirSync(inTree("sub/deep"), { recursive: true });
  writeFileSync(inTree("crlf.txt"), "one\r\ntwo\r\nthree\r\n");
  writeFileSync(inTree("sub/deep/code.js"), "const x = 1; // needle\n");
  mkdirSync(inTree("ignored"));
  writeFileSync(inTree(".gitignore"), "ignored/\n");
  writeFileSync(inTree("ignored/other.js"), "needle\n");
  const lines = Array.from({ length: edits }, (_, i) => `line ${i} old\n`);
  writeFileSync(inTree("shared.txt"), lines.join(""));

  let cases = 0;
  const tells = async (what, answer, ...wanted) => {
    const got = await answer;
    cases++;
    for (const part of wanted)
      if (!got.includes(part)) throw new Error(`${what}: expected ${JSON.stringify(part)} in\n${got}`);
  };
  const holds = (what, isSo) => {
    cases++;
    if (!isSo) throw new Error(what);
  };

  const server = await start();
  const { call, request } = server;
  const one = path => call("read_file", { path });
  await tells("reading", one("crlf.txt"), "2: two", "CRLF");
  await tells("an absolute path", one(`${served}${windows ? "\\" : "/"}crlf.txt`), "2: two");
  await tells("listing", call("list_directory", { path: "." }), "crlf.txt", "sub/");
  await tells("finding", call("find_files", { pattern: "**/*.js" }), "sub/deep/code.js", "[1 found]");
  if (search) {
    await tells(
      "searching",
      call("search_text", { pattern: "needle" }),
      "sub/deep/code.js",
      "[1 match in 1 file]",
    );
    await tells(
      "by expression",
      call("search_text", { pattern: "n[e]{2}dle" }),
      "sub/deep/code.js",
      "1 match",
    );
  }
  await tells("outside", one(windows ? "C:\\windows\\win.ini" : "/etc/hostname"), "outside_roots");
  await tells("above", one("../x"), "outside_roots");
  if (windows) {
    const drive = served[0].toLowerCase();
    const slashed = served.slice(2).replaceAll("\\", "/");
    for (const path of [
      `${drive}:${slashed}/crlf.txt`,
      `${served.toUpperCase()}\\CRLF.TXT`,
      `file:///${drive}:${slashed}/crlf.txt`,
      `file:///${drive}%3A${slashed}/crlf.txt`,
      `\\\\?\\${served}\\crlf.txt`,
    ])
      await tells(`the spelling ${path}`, one(path), "2: two");
    const other = [
      "CONIN$",
      "nul",
      "com1.txt",
      "crlf.txt:stream",
      "crlf.txt.",
      "PROGRA~1",
      "\\\\.\\C:",
      "a\u0001b",
      "C:x",
    ];
    for (const path of other) await tells(`refusing ${path}`, one(path), "invalid_input");
    await tells("a share that was not granted", one("\\\\server\\share\\x"), "outside_roots");
    await tells("printing", call("list_roots", {}), served);
  }
  await tells(
    "editing",
    call("edit_file", { path: "crlf.txt", edits: [{ old: "two", new: "TWO" }] }),
    "edited",
  );
  holds("line endings stay", content("crlf.txt") === "one\r\nTWO\r\nthree\r\n");
  await tells("undoing an edit", call("undo", {}), "undid");
  holds("as it was", content("crlf.txt") === "one\r\ntwo\r\nthree\r\n");
  await tells(
    "writing into new directories",
    call("write_file", { path: "new/dir/b.txt", content: "b\n" }),
    "created",
  );
  await tells("overwriting", call("write_file", { path: "new/dir/b.txt", content: "c\n" }), "overwrote");
  holds("written", content("new/dir/b.txt") === "c\n");
  await tells("copying a directory", call("copy_path", { from: "sub", to: "copy" }), "copied");
  await tells("moving it", call("move_path", { from: "copy", to: "moved" }), "moved");
  await tells("deleting it", call("delete_path", { path: "moved", recursive: true }), "deleted");
  await tells("and taking that back", call("undo", {}), "restored");
  holds("all of it", content("moved/deep/code.js") === content("sub/deep/code.js"));
  const uri = (await request("resources/list")).result.resources[0].uri;
  const read = await request("resources/read", { uri: `${uri}/sub/deep/code.js` });
  holds("a resource", read.result?.contents[0].text.includes("needle"));
  const value = `${uri.slice("file:///".length)}/su`;
  const argument = { name: "path", value };
  const completed = await request("completion/complete", {
    ref: { type: "ref/resource", uri: "file:///{+path}" },
    argument,
  });
  holds("completion", completed.result?.completion.values.join() === `${value}b/`);

  const second = await start();
  const failures = [];
  await Promise.all(
    [server, second].map(async (one, turn) => {
      for (let i = turn; i < edits; i += 2) {
        const change = [{ old: `line ${i} old`, new: `line ${i} new` }];
        const answer = await one.call("edit_file", { path: "shared.txt", edits: change });
        if (!answer.startsWith("edited")) failures.push(answer);
      }
    }),
  );
  holds(`two servers: ${failures[0]}`, failures.length === 0);
  holds("none of their edits is lost", content("shared.txt") === lines.join("").replaceAll("old", "new"));

  // Killed in the middle of edits, it leaves a complete file, and the other server continues.
  const victim = await start();
  const going = (async () => {
    for (let i = 0; ; i++)
      await victim.call("write_file", { path: "torn.txt", content: `${i}\n`.repeat(20_000) });
  })();
  going.catch(() => {});
  while (!existsSync(inTree("torn.txt"))) await new Promise(resolve => setTimeout(resolve, 20));
  await new Promise(resolve => setTimeout(resolve, 150));
  await victim.kill();
  await tells("after a kill", second.call("write_file", { path: "after.txt", content: "x\n" }), "created");
  const found = content("torn.txt");
  const [first = ""] = found.split("\n");
  holds("a killed server leaves no torn file", found === `${first}\n`.repeat(20_000));
  await second.end();
  await server.end();
  return cases;
}
