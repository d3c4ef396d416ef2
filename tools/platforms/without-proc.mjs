// The round trip on Linux with an empty /proc: handles are paths there, as on macOS.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { client } from "./client.mjs";
import { roundTrip } from "./round-trip.mjs";

const hidden = ["-m", "sh", "-c", 'mount -t tmpfs -o size=4k,ro none /proc && exec "$@"', "sh"];

/** @returns {Promise<string>} What came of it. */
export async function withoutProc(program) {
  if (process.platform !== "linux" || spawnSync("unshare", [...hidden, "true"]).status !== 0)
    return "not run: /proc cannot be hidden here";
  const scratch = mkdtempSync(join(tmpdir(), "polyfs-noproc-"));
  const at = join(scratch, "tree");
  const env = { ...process.env, POLYFS_STATE_DIR: join(scratch, "state"), POLYFS_CODE_CACHE: "off" };
  const start = async () => {
    const stdio = ["pipe", "pipe", "ignore"];
    const child = spawn("unshare", [...hidden, process.execPath, program, at], { env, stdio });
    const over = once(child, "exit");
    const end = async () => {
      child.stdin.end();
      await over;
    };
    const kill = async () => {
      child.kill("SIGKILL");
      await over;
    };
    child.stdin.on("error", () => {});
    const server = client({ input: child.stdin, output: child.stdout, end });
    await server.start();
    return { ...server, kill };
  };
  try {
    return `${await roundTrip({ at, served: at, start })} cases hold`;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
