// Checks the promise to newcomers: in a fresh clone of what is committed, `npm start -- DIR` is the first command,
// and a client gets its answer with nothing else on stdout. The generated documents need no build, either.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const scratch = mkdtempSync(join(tmpdir(), "polyfs-clone-"));
const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "newcomer", version: "1" } },
};

try {
  const clone = join(scratch, "polyfs");
  run("git", ["clone", "--quiet", root, clone], { cwd: scratch });
  // As a user's shell would: without the settings of the npm that runs this check.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD)/i.test(name)),
  );
  run("node", ["tools/generate.mjs", "--check"], { cwd: clone, env });
  const input = `${JSON.stringify(hello)}\n`;
  const stdout = run("npm", ["start", "--", "--dialect", "fs", scratch], { cwd: clone, env, input });
  const { result } = JSON.parse(stdout);
  console.log(`${result.serverInfo.name} ${result.serverInfo.version} answers from a fresh clone`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function run(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status !== 0)
    throw new Error(`${command} ${args.join(" ")}: ${error?.message ?? ""}${stdout}${stderr}`);
  return stdout;
}
