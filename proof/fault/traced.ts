// Failures from below Node: strace makes a system call of the whole program fail or be cut short, for calls that only a
// change of files makes. Nothing in the program knows about it.
import { spawnSync } from "node:child_process";
import { program } from "../places.ts";
import type { Trial } from "../suite.ts";
import { ServerUnderTest, told } from "./server-under-test.ts";

const calls = [
  "fsync",
  "fdatasync",
  "pwrite64",
  "renameat,renameat2,rename",
  "unlinkat,unlink",
  "linkat,link",
  "fchmod",
  "ftruncate",
  "mkdirat,mkdir",
];
const errors = ["EIO", "ENOSPC", "EACCES", "EINTR", "EDQUOT"];

export async function failBelow({ tally, chance, long }: Trial): Promise<void> {
  if (!tally.wants("R014")) return;
  if (spawnSync("strace", ["-o", "/dev/null", "true"]).status !== 0) {
    tally.skipped("R014", "needs strace, and permission to trace");
    return;
  }
  const cases = calls.flatMap(call =>
    errors.flatMap(error => [1, 2, 3, 4].map(when => ({ call, error, when }))),
  );
  for (const { call, error, when } of long ? cases : chance.shuffled(cases).slice(0, 8)) {
    await tally.attempt(`R014 (${error} in ${call} ${when})`, async () => {
      await using server = new ServerUnderTest({ a: "old\n", b: "old\n" });
      const patch = ["a", "b"].map(name => `--- ${name}\n+++ ${name}\n@@ -1 +1 @@\n-old\n+new\n`).join("");
      const args = [
        "call",
        "--json",
        "--state-dir",
        server.state,
        "--workspace",
        server.root,
        "apply_patch",
        JSON.stringify({ patch }),
      ];
      const inject = [
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-e",
        `trace=${known(call)}`,
        "-e",
        `inject=${known(call)}:error=${error}:when=${when}`,
      ];
      const { status, stdout, signal } = spawnSync(
        "strace",
        [...inject, process.execPath, program, ...args],
        { encoding: "utf8" },
      );
      if (signal !== null) throw new Error(`ended by ${signal}`);
      const wire = await server.serve();
      await told(wire, "list_directory", {});
      const text = JSON.stringify(server.tree());
      const [before, after] = [
        JSON.stringify({ a: "old\n", b: "old\n" }),
        JSON.stringify({ a: "new\n", b: "new\n" }),
      ];
      if (text !== (status === 0 ? after : before))
        throw new Error(`it said ${stdout.slice(0, 200)}, and the tree is ${text}`);
      server.orderly();
      await told(wire, "write_file", { path: "next", content: "works" });
    });
  }
}

/** Of several names of a call, those that this machine's kernel has. */
export function known(names: string): string {
  return names
    .split(",")
    .filter(name => spawnSync("strace", ["-o", "/dev/null", "-e", `trace=${name}`, "true"]).status === 0)
    .join(",");
}
