// The round trip with Node for Windows under Wine. Wine is used where it is installed, and installed where one command
// does that; Node and ripgrep for Windows come from the registry. What is missing is reported, and is not a failure.
//
// POLYFS_WINE names another program than `wine`; POLYFS_WINE_DIR keeps the prefix and Node for the next run.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { client } from "./client.mjs";
import { roundTrip } from "./round-trip.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const nodeVersion = "20.20.2"; // the newest that starts on Wine 8 too
const wine = process.env.POLYFS_WINE ?? "wine";

/** @returns {Promise<string>} What came of it. */
export async function underWine() {
  if (!isThere(wine) && !installed()) return "not run: no wine";
  const kept = process.env.POLYFS_WINE_DIR;
  const directory = kept ?? mkdtempSync(join(tmpdir(), "polyfs-wine-"));
  mkdirSync(directory, { recursive: true });
  const env = { ...process.env, WINEPREFIX: join(directory, "prefix"), WINEDEBUG: "-all" };
  try {
    const missing = prepare(directory, env);
    if (missing !== undefined) return `not run: ${missing}`;
    const search = run(rgIn(directory), ["--version"], env).status === 0;
    const at = join(directory, "prefix/drive_c/polyfs-tree");
    const start = () => startServer(directory, env, ["C:\\polyfs-tree"]);
    const cases = await roundTrip({ at, served: "C:\\polyfs-tree", start, windows: true, search });
    const tested = await selftest(directory, env, search);
    return `${cases} cases hold; ${tested}${search ? "" : "; searching not run: ripgrep does not start in this wine"}`;
  } finally {
    spawnSync("wineserver", ["-k"], { env });
    if (kept === undefined) rmSync(directory, { recursive: true, force: true });
  }
}

function isThere(program) {
  return spawnSync(program, ["--version"]).status === 0;
}

/** Only where its Wine can run Node: Debian's for x64. */
function installed() {
  if (process.platform !== "linux" || process.arch !== "x64" || process.getuid() !== 0) return false;
  const options = { env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" }, timeout: 240_000 };
  spawnSync("apt-get", ["update", "-qq"], options);
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "wine", "wine64"], options);
  return isThere(wine);
}

/** Makes the prefix, Node and the package; returns what is missing. */
function prepare(directory, env) {
  const arch = process.arch;
  if (!existsSync(join(directory, "node.exe"))) {
    const node = unpacked(directory, `node-win-${arch}@${nodeVersion}`);
    if (node === undefined) return "Node for Windows cannot be fetched";
    cpSync(join(node, "bin/node.exe"), join(directory, "node.exe"));
    rmSync(node, { recursive: true });
  }
  if (!existsSync(join(directory, "prefix/drive_c"))) {
    spawnSync(wine, ["wineboot", "-i"], { env, stdio: "ignore", timeout: 120_000 });
    spawnSync(wine, ["winecfg", "-v", "win10"], { env, stdio: "ignore", timeout: 60_000 });
  }
  if (run(join(directory, "node.exe"), ["--version"], env).status !== 0)
    return "this wine does not run Node for Windows";
  const { version } = JSON.parse(
    readFileSync(join(root, "node_modules/@vscode/ripgrep/package.json"), "utf8"),
  );
  const packages = join(directory, "app/node_modules/@vscode");
  cpSync(join(root, "dist"), join(directory, "app/dist"), { recursive: true });
  cpSync(join(root, "package.json"), join(directory, "app/package.json"));
  cpSync(join(root, "node_modules/@vscode/ripgrep"), join(packages, "ripgrep"), { recursive: true });
  cpSync(join(here, "carrier.cjs"), join(directory, "carrier.cjs"));
  if (!existsSync(rgIn(directory))) {
    const ripgrep = unpacked(directory, `@vscode/ripgrep-win32-${arch}@${version}`);
    if (ripgrep === undefined) return "ripgrep for Windows cannot be fetched";
    cpSync(ripgrep, join(packages, `ripgrep-win32-${arch}`), { recursive: true });
    rmSync(ripgrep, { recursive: true });
  }
  return undefined;
}

function rgIn(directory) {
  return join(directory, `app/node_modules/@vscode/ripgrep-win32-${process.arch}/bin/rg.exe`);
}

function run(program, args, env) {
  return spawnSync(wine, [program, ...args], { env, timeout: 60_000 });
}

/** The directory that a package of the registry was unpacked to; undefined if it cannot be had. */
function unpacked(directory, name) {
  const packed = spawnSync("npm", ["pack", "--silent", "--fetch-retries=0", name], {
    cwd: directory,
    encoding: "utf8",
  });
  const file = packed.stdout?.trim().split("\n").at(-1) ?? "";
  if (packed.status !== 0 || file === "") return undefined;
  spawnSync("tar", ["xzf", file], { cwd: directory });
  rmSync(join(directory, file));
  return join(directory, "package");
}

/** `polyfs selftest` there. Checks that need ripgrep are ignored if it does not start. */
async function selftest(directory, env, search) {
  const seconds = process.env.POLYFS_WINE_SECONDS ?? "6";
  const { socket } = await startProgram(directory, env, ["selftest", "--json", "--seconds", seconds, "C:\\"]);
  let text = "";
  for await (const chunk of socket) text += chunk;
  const { sections } = JSON.parse(text);
  const failures = sections.flatMap(one => one.failures.map(failure => `${one.name}: ${failure}`));
  const real = failures.filter(failure => search || !/\btext\b.* is found by /.test(failure));
  if (real.length > 0) throw new Error(`selftest:\n${real.slice(0, 20).join("\n")}`);
  return sections.map(({ name, tried, notes }) => `${name}: ${[tried, ...notes].join(", ")}`).join("; ");
}

async function startServer(directory, env, args) {
  const { socket, over } = await startProgram(directory, env, args);
  const end = async () => {
    socket.end();
    await over;
  };
  const kill = async () => {
    socket.destroy();
    await over;
  };
  const server = client({ input: socket, output: socket, end });
  await server.start();
  return { ...server, kill };
}

/** Starts polyfs; the socket carries its standard streams. */
async function startProgram(directory, env, args) {
  const windows = path => `Z:${path.replaceAll("/", "\\")}`;
  const listener = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(listener, "listening");
  const line = [
    join(directory, "node.exe"),
    windows(join(directory, "carrier.cjs")),
    String(listener.address().port),
  ];
  const program = windows(join(directory, "app/dist/polyfs.cjs"));
  const child = spawn(wine, [...line, program, ...args], {
    env: { ...env, POLYFS_CODE_CACHE: "off" },
    stdio: "ignore",
  });
  const over = once(child, "exit");
  const [socket] = await Promise.race([
    once(listener, "connection"),
    over.then(() => Promise.reject(new Error("the server under wine did not start"))),
  ]);
  listener.close();
  socket.on("error", () => {});
  return { socket, over };
}
