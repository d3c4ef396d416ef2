// Checks the promises to newcomers on a system that has never seen this project: a minimal Debian with git, Node and
// npm, made with debootstrap, in which the first command is `npm start`, `npm test` or `.ci/run`. Each command gets a
// system and a clone of its own, and its time is printed. It needs root and debootstrap; it is not part of `.ci/run`,
// because the whole takes hours.
//
//   node tools/check-fresh-machine.mjs [--node 20,22,24] [--user root,ordinary] [--run start,test,ci] [--base DIR]
//
// With --base, the system is made in DIR if it is not there yet, and kept for the next time.
import { execFileSync, spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const repository = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values } = parseArgs({
  options: {
    node: { type: "string", default: "20,22,24" },
    user: { type: "string", default: "root,ordinary" },
    run: { type: "string", default: "start,test,ci" },
    base: { type: "string" },
  },
});
const list = text => text.split(",").filter(word => word !== "");

/** Lines for a server over stdio: a handshake of 2025, then a call that reads a file. */
const conversation = [
  {
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "newcomer", version: "1" },
    },
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "read_file", arguments: { path: "note.txt" } } },
]
  .map(message => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

const commands = {
  start: {
    script: `mkdir ~/project && echo hello > ~/project/note.txt && npm start -- ~/project`,
    input: conversation,
    verdict(stdout) {
      const answers = stdout
        .trim()
        .split("\n")
        .map(line => JSON.parse(line));
      const text = answers.find(({ id }) => id === 2)?.result?.content?.[0]?.text ?? "";
      if (!text.includes("hello")) throw new Error(`the answer is ${JSON.stringify(answers)}`);
      return "a file was read over stdio";
    },
  },
  test: { script: "npm test", verdict: stdout => lastMatch(stdout, /^.*Tests .*$/gm) },
  ci: { script: "CI=true bash .ci/run", verdict: stdout => lastMatch(stdout, /^\d+ passed, \d+ failed$/gm) },
};

function lastMatch(text, pattern) {
  const found = text
    .replace(/\u001b\[[0-9;]*m/g, "")
    .match(pattern)
    ?.at(-1);
  if (found === undefined) throw new Error(`no result in: ${text.slice(-2000)}`);
  return found.trim();
}

const scratch = mkdtempSync("/var/tmp/polyfs-fresh-");
let failed = 0;
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(130));

const base = values.base ?? join(scratch, "base");
if (!existsSync(base)) makeBase(base);
for (const version of list(values.node)) {
  const node = nodeBinary(version);
  for (const user of list(values.user)) {
    for (const name of list(values.run)) tryOn(node, version, user, name);
  }
}
process.exitCode = failed === 0 ? 0 : 1;

/** A minimal system with git and with npm as it is set up here; a system that was not finished has another name. */
function makeBase(directory) {
  if (process.getuid?.() !== 0) throw new Error("this needs root");
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  run("debootstrap", ["--variant=minbase", "--include=git,ca-certificates", "bookworm", unfinished]);
  const npm = realpathSync(run("sh", ["-c", "command -v npm"]).trim()); // …/npm/bin/npm-cli.js
  cpSync(join(npm, "../.."), join(unfinished, "usr/lib/node_modules/npm"), { recursive: true });
  run("ln", ["-s", "../lib/node_modules/npm/bin/npm-cli.js", join(unfinished, "usr/bin/npm")]);
  run("ln", ["-s", "../lib/node_modules/npm/bin/npx-cli.js", join(unfinished, "usr/bin/npx")]);
  const config = key => run("npm", ["config", "get", key]).trim();
  for (const key of ["globalconfig", "userconfig"]) {
    if (!existsSync(config(key))) continue;
    mkdirSync(join(unfinished, "usr/etc"), { recursive: true });
    appendFileSync(join(unfinished, "usr/etc/npmrc"), `${readFileSync(config(key), "utf8")}\n`);
  }
  // The same names and certificates lead to the registries.
  for (const file of [
    "/etc/resolv.conf",
    "/etc/hosts",
    config("cafile"),
    "/etc/ssl/certs/ca-certificates.crt",
  ]) {
    if (existsSync(file)) cpSync(file, join(unfinished, file), { dereference: true });
  }
  spawnSync("umount", ["-l", join(unfinished, "proc"), join(unfinished, "sys")], { stdio: "ignore" }); // debootstrap's
  renameSync(unfinished, directory);
}

/** The node program of a version, from the package that carries it. */
function nodeBinary(version) {
  const name = `node-linux-${process.arch}`;
  const versions = [JSON.parse(run("npm", ["view", `node@${version}`, "version", "--json"]))].flat();
  const newest = versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  const place = join(scratch, `node-${version}`);
  mkdirSync(place);
  const packed = run("npm", ["pack", "--silent", "--pack-destination", place, `${name}@${newest}`]).trim();
  run("tar", ["-xzf", join(place, packed), "-C", place, "package/bin/node"]);
  return join(place, "package/bin/node");
}

function tryOn(node, version, user, name) {
  const system = join(scratch, "system");
  const { script, input = "", verdict } = commands[name];
  const label = `Node ${version}, ${user === "root" ? "root" : "an ordinary user"}, ${name}`;
  try {
    run("cp", ["-a", base, system]);
    cpSync(node, join(system, "usr/bin/node"));
    const home = user === "root" ? "/root" : "/home/newcomer";
    if (user !== "root")
      run("chroot", [system, "useradd", "--create-home", "--shell", "/bin/bash", "newcomer"]);
    run("git", ["clone", "--quiet", "--no-hardlinks", repository, join(system, home, "polyfs")]);
    writeFileSync(join(system, "first-command"), `cd ~/polyfs && ${script}\n`, { mode: 0o755 });
    run("chroot", [system, "chown", "-R", user === "root" ? "root:" : "newcomer:", home]);
    const started = Date.now();
    const { status, stdout, stderr } = spawnSync(
      "unshare",
      ["--mount", "--pid", "--fork", "sh", "-c", inside(system, user)],
      {
        input,
        encoding: "utf8",
        maxBuffer: 2 ** 30,
      },
    );
    const seconds = Math.round((Date.now() - started) / 1000);
    if (status !== 0)
      throw new Error(`after ${seconds} s, exit ${status}: ${(stdout + stderr).slice(-4000)}`);
    console.log(`ok      ${label}: ${verdict(stdout)} (${seconds} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${label}: ${error.message}`);
  } finally {
    rmSync(system, { recursive: true, force: true });
  }
}

/** Runs the first command in the system, with mounts and processes that end with it. */
function inside(system, user) {
  const mounts = [
    "set -e",
    `mount --bind '${system}' '${system}'`, // the root of a sandbox has to be a mount
    `mount --rbind /dev '${system}/dev'`,
    `mount -t proc proc '${system}/proc'`,
    `mount -t sysfs sysfs '${system}/sys'`,
    `cd '${system}'`,
    "pivot_root . mnt",
    "umount -l /mnt",
  ];
  const login =
    user === "root"
      ? "env -i HOME=/root"
      : "env -i HOME=/home/newcomer setpriv --reuid newcomer --regid newcomer --init-groups";
  const path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8";
  return `${mounts.join("\n")}\nexec ${login.replace("env -i", `env -i ${path}`)} bash /first-command`;
}

function run(command, args) {
  return execFileSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
}
