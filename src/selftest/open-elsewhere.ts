// Windows: a file that another program has open without sharing it can be neither read nor replaced. The server
// waits for it without blocking other calls, and then refuses with nothing changed.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Fixture } from "./fixture.ts";
import type { Section } from "./section.ts";
import type { ServedProgram } from "./served-program.ts";

/** libuv's UV_FS_O_EXLOCK: opened without sharing. */
const exclusive = 0x10000000;

/** Opens a file, says so, and closes it when its input ends. */
const holder = `
const fs = require("node:fs");
fs.openSync(process.argv[1], fs.constants.O_RDONLY | ${exclusive});
process.stdout.write("open");
process.stdin.on("end", () => process.exit(0)).resume();`;

const original = "one\n";

export async function openElsewhere(
  section: Section,
  fixture: Fixture,
  server: ServedProgram,
): Promise<void> {
  fixture.write("held.txt", original);
  fixture.write("free.txt", "free\n");
  const edit = () => server.call("write_file", { path: "held.txt", content: "two\n", mode: "overwrite" });
  const free = () => server.call("read_file", { path: "free.txt" });

  const first = await held(join(fixture.root, "held.txt"));
  let isOver = false;
  const waiting = edit().finally(() => {
    isOver = true;
  });
  await pause(200);
  await section.tells("other calls are answered meanwhile", free(), "free");
  section.holds("while the change waits", !isOver);
  await released(first);
  await section.tells("the change is made when the file is closed", waiting, "overwrote");
  section.holds("it is in the file", fixture.text("held.txt") === "two\n");
  const reading = await held(join(fixture.root, "held.txt"));
  const read = server.call("read_file", { path: "held.txt" });
  await pause(200);
  await released(reading);
  await section.tells("it is read when the file is closed", read, "two");
  await section.tells("it is undone", server.call("undo", {}), "undid");

  const second = await held(join(fixture.root, "held.txt"));
  const line = { path: "held.txt", edits: [{ old: "one", new: "two" }] };
  const patch = "*** Begin Patch\n*** Update File: held.txt\n@@\n-one\n+two\n*** End Patch\n";
  const calls = {
    "overwriting it": edit(),
    "reading it": server.call("read_file", { path: "held.txt" }),
    "editing it": server.call("edit_file", line),
    "patching it": server.call("apply_patch", { patch }),
    "removing it": server.call("delete_path", { path: "held.txt" }),
  };
  for (const [name, call] of Object.entries(calls))
    await section.tells(
      `${name} while it stays open is refused as locked`,
      call,
      "locked by another process",
    );
  await released(second);
  section.holds("nothing has changed", fixture.text("held.txt") === original);
  section.holds(
    "nothing is left over",
    Object.keys(fixture.tree()).every(name => !name.includes(".polyfs-")),
  );
  await section.tells("afterwards it can be changed", edit(), "overwrote");
}

async function held(path: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", holder, path], { stdio: ["pipe", "pipe", "ignore"] });
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

async function released(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
}
