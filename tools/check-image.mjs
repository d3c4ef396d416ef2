// Checks what the image promises, without a container engine: the package is installed as the Dockerfile does it, and
// started as the image would be, under bubblewrap: read-only, without network, as an ordinary user, with the
// directories, variables and command of the Dockerfile. Where bubblewrap or the registry is missing, it says so.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { install } from "./install.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const nobody = 1000;
install();
const scratch = mkdtempSync(join(tmpdir(), "polyfs-image-"));
chmodSync(scratch, 0o755);
try {
  check(lastStage(readFileSync(join(root, "Dockerfile"), "utf8")));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function check({ ENV, USER, WORKDIR, ENTRYPOINT, CMD }) {
  const user = USER.at(-1);
  if (user === undefined || /^(root|0)\b/.test(user)) throw new Error("the image runs as root");
  if (spawnSync("bwrap", ["--version"]).status !== 0)
    return console.log("not tried: there is no bubblewrap here");
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", scratch], { cwd: root }));
  const prefix = join(scratch, "opt");
  const args = ["install", "--global", "--prefix", prefix, "--prefer-offline", "--fetch-retries=0"];
  const installed = spawnSync("npm", [...args, join(scratch, packed.filename)], {
    cwd: scratch,
    encoding: "utf8",
  });
  if (installed.status !== 0) return console.log(`not tried: npm could not install it\n${installed.stderr}`);
  for (const name of ["project", "state"]) mkdirSync(join(scratch, name));
  writeFileSync(join(scratch, "project/hello.txt"), "found by ripgrep\n");
  chmodSync(join(scratch, "state"), 0o1777);
  if (process.getuid() === 0) chownSync(join(scratch, "project"), nobody, nobody);

  const env = Object.fromEntries(
    [...ENV.join(" ").matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );
  const node = dirname(process.execPath);
  const path = env.PATH.replace("$PATH", `${node}:/usr/bin:/bin`);
  const system = ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", node].filter(existsSync);
  const jail = [
    ...system.flatMap(one => ["--ro-bind", one, one]),
    ...["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", prefix, "/opt/polyfs"],
    ...["--bind", join(scratch, "state"), "/state", "--bind", join(scratch, "project"), "/workspace"],
    ...["--remount-ro", "/", "--unshare-all", "--die-with-parent", "--clearenv", "--chdir", WORKDIR.at(-1)],
    ...Object.entries({ ...env, PATH: path }).flatMap(([name, value]) => ["--setenv", name, value]),
    ...[...JSON.parse(ENTRYPOINT.at(-1)), ...JSON.parse(CMD.at(-1))],
  ];
  const input = [
    [
      "initialize",
      { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "check", version: "1" } },
    ],
    ["tools/call", { name: "search_text", arguments: { pattern: "by ripgrep" } }],
    ["tools/call", { name: "write_file", arguments: { path: "made.txt", content: "made\n" } }],
  ].map(([method, params], i) => `${JSON.stringify({ jsonrpc: "2.0", id: i + 1, method, params })}\n`);
  const who = process.getuid() === 0 ? { uid: nobody, gid: nobody } : {};
  const said = run("bwrap", jail, { input: input.join(""), ...who });
  if (!said.includes("hello.txt") || readFileSync(join(scratch, "project/made.txt"), "utf8") !== "made\n")
    throw new Error(`the image would not work: ${said}`);
  console.log("started as the image does, it searches, writes and keeps its history");
}

/** The instructions of the last stage, by name, with lines joined as they are continued. */
function lastStage(text) {
  const lines = text
    .replace(/^\s*#.*\n/gm, "")
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter(Boolean);
  const found = { ENV: [], USER: [], WORKDIR: [], ENTRYPOINT: [], CMD: [] };
  const known = /^(FROM|COPY|RUN|ENV|USER|WORKDIR|VOLUME|ENTRYPOINT|CMD) (.+)$/;
  for (const line of lines) {
    const [, name, rest] = known.exec(line) ?? [];
    if (name === undefined) throw new Error(`Dockerfile: ${line}`);
    if (name === "FROM") for (const list of Object.values(found)) list.length = 0;
    found[name]?.push(rest);
  }
  return found;
}

function run(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? ""}${stdout}${stderr}`);
  return stdout;
}
