// Linux with an empty /proc, which emulates macOS: `polyfs selftest`, and the suites of the engine and of the own
// dialect. Tests that are about /proc, or need it themselves, say so (test/setup/proc.ts).
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const hidden = ["-m", "sh", "-c", 'mount -t tmpfs -o size=4k,ro none /proc && exec "$@"', "sh"];
const suites = [
  "system",
  "workspace",
  "workspaces",
  "commit",
  "history",
  "search",
  "review",
  "dialects/polyfs",
].map(name => `test/${name}/`);

/** @returns {Promise<string>} What came of it. */
export async function withoutProc(program) {
  if (process.platform !== "linux" || spawnSync("unshare", [...hidden, "true"]).status !== 0)
    return "not run: /proc cannot be hidden here";
  const report = await output([process.execPath, program, "selftest", "--seconds", "5"]);
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const tests = await output([
    process.execPath,
    vitest,
    "run",
    ...suites,
    "--reporter=dot",
    "--testTimeout=180000",
  ]);
  // The library, in a host process, holds objects by their paths.
  await output([process.execPath, vitest, "run", "test/system"], { POLYFS_TEST_AS: "library" });
  const passed = /Tests .*/.exec(withoutColours(tests))?.[0] ?? "";
  return `${report.trim().split("\n").at(-1)}; ${passed}`;
}

/** What a command prints with /proc hidden; throws it where the command fails. */
export async function output(line, env = {}) {
  const child = spawn("unshare", [...hidden, ...line], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", text => (said += text));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${line.slice(1, 4).join(" ")} failed:\n${said.slice(-8000)}`);
  return said;
}

function withoutColours(text) {
  return text.replace(/\u001b\[[0-9;]*m/g, "");
}
