// `polyfs selftest` on a file system that ignores case and Unicode form, as those of macOS and Windows do: with /proc,
// and with /proc hidden.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountFolding } from "./folding/mount.mjs";
import { output } from "./without-proc.mjs";

/** @returns {Promise<string>} What came of it. */
export async function onFolding(program) {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-folding-"));
  const end = await mountFolding(directory);
  try {
    if (end === undefined) return "not run: nothing can be mounted here";
    const line = [process.execPath, program, "selftest", "--seconds", "2", directory];
    const { status, stdout } = spawnSync(line[0], line.slice(1), { encoding: "utf8" });
    if (status !== 0) throw new Error(stdout);
    const hidden = await output(line); // with /proc hidden
    return `${lastLine(stdout)}; without /proc: ${lastLine(hidden)}`;
  } finally {
    await end?.();
    rmSync(directory, { recursive: true, force: true });
  }
}

function lastLine(text) {
  return text.trim().split("\n").at(-1);
}
