// Extended attributes of a base are there in its forks, and a merge does not lose those of the base.
import { spawnSync } from "node:child_process";
import { chmodSync, lstatSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Fixture } from "./fixture.ts";

function python(program: string, file: string): string | undefined {
  const { status, stdout } = spawnSync("python3", ["-c", `import os,sys; ${program}`, file], {
    encoding: "utf8",
  });
  return status === 0 ? stdout.trim() : undefined;
}
const setNote = (file: string, note: string) =>
  python(`os.setxattr(sys.argv[1], "user.note", b"${note}")`, file);
const noteOf = (file: string) => python(`print(os.getxattr(sys.argv[1], "user.note").decode())`, file);

it.runIf(process.platform === "linux").each([undefined, "link", "copy"] as const)(
  "survive a fork and a merge (%s)",
  async method => {
    using fixture = new Fixture(method);
    const base = fixture.files("base", {
      "plain.txt": "plain\n",
      "-d/a b/ü.txt": "one\n",
      "d/read-only.txt": "two\n",
    });
    symlinkSync("plain.txt", join(base, "link"));
    const named = ["-d/a b/ü.txt", "d/read-only.txt"];
    for (const name of named) expect(setNote(join(base, name), "kept")).toBeDefined();
    chmodSync(join(base, "d/read-only.txt"), 0o444);
    await fixture.workspaces.adopt("main", base, "");
    const fork = await fixture.workspaces.fork("task", "main", "");
    for (const name of named) expect(noteOf(join(fork.root, name)), name).toBe("kept");
    expect(noteOf(join(fork.root, "plain.txt"))).toBeUndefined();
    expect(lstatSync(join(fork.root, "link")).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(fork.root, "d/read-only.txt")).mode & 0o777).toBe(0o444);
    expect(await fixture.workspaces.diff(fork, fixture.opener)).toEqual([]);
    fixture.files(fork.root, { "-d/a b/ü.txt": "one\nmore\n" });
    await fixture.workspaces.merge(fork, fixture.opener);
    expect(noteOf(join(base, "-d/a b/ü.txt"))).toBe("kept");
    setNote(join(base, "plain.txt"), "later");
    const next = await fixture.workspaces.fork("next", "main", "");
    expect(noteOf(join(next.root, "plain.txt"))).toBe("later");
    expect(noteOf(join(fork.root, "plain.txt"))).toBeUndefined();
  },
);
