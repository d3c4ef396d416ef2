// Runs the protocol's official conformance suite against the real HTTP stack: first with the fixtures that the suite
// looks for, which must pass without exception, then against the program as it is shipped, where what needs those
// fixtures is listed in a baseline. The Inspector runs too, as a client with a token. They need Node 22, which comes as
// a package; all are kept in a cache outside the repository. Without them (no network) it is skipped, and says so.
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build as bundle } from "esbuild";
import { build } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const suite = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const inspector = "@modelcontextprotocol/inspector@2.12.0";
const runtime = `node-${process.platform}-${process.arch}@22`;
const revisions = ["2025-11-25", "2026-07-28"];
const run = promisify(execFile);

const scratch = mkdtempSync(join(tmpdir(), "polyfs-conformance-"));
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }));

const installed = await install();
if (installed === undefined) process.exit(0);
await build();
const program = join(scratch, "program.mjs");
await bundle({
  absWorkingDir: root,
  entryPoints: ["test/http/conformance/conformance-program.ts"],
  outfile: program,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  banner: { js: "const require=process.getBuiltinModule;" },
  external: ["@vscode/ripgrep"],
  nodePaths: [join(root, "node_modules")],
  logLevel: "error",
});
mkdirSync(join(scratch, "served"));
const served = join(root, "dist/polyfs.cjs");
const failed = [
  ...(await check("the fixtures", [program], () => [])),
  ...(await check("the program", [served, "--http", "0", join(scratch, "served")], revision => [
    "--expected-failures",
    join(root, `test/http/conformance/shipped-${revision}.yml`),
  ])),
];
if (!(await inspect())) failed.push("the Inspector");
process.exit(failed.length === 0 ? 0 : 1);

/** Where the suite and its runtime are; undefined if they cannot be had. */
async function install() {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "polyfs", "conformance-1");
  const modules = join(cache, "node_modules");
  const command = join(modules, "@modelcontextprotocol/conformance/dist/index.js");
  const node =
    Number(process.versions.node.split(".")[0]) >= 22
      ? process.execPath
      : join(modules, runtime.replace(/@22$/, ""), "bin", process.platform === "win32" ? "node.exe" : "node");
  const look = join(modules, "@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  if (existsSync(command) && existsSync(node) && existsSync(look)) return { command, node, look };
  try {
    mkdirSync(cache, { recursive: true });
    writeFileSync(join(cache, "package.json"), "{}");
    const packages = [suite, inspector, ...(node === process.execPath ? [] : [runtime])];
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", ...packages];
    await run("npm", args, { cwd: cache, timeout: 300_000 });
    return { command, node, look };
  } catch (error) {
    console.log(
      `skipped: the conformance suite cannot be installed (${String(error.message).split("\n")[0]})`,
    );
    return undefined;
  }
}

/** Runs both requirement sets against a program that says where it listens; resolves to those that failed. */
async function check(what, args, options) {
  const state = join(scratch, "state");
  const child = spawn(process.execPath, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, POLYFS_STATE_DIR: state },
  });
  const bad = [];
  try {
    const url = await firstUrl(child);
    for (const revision of revisions) {
      const outcome = await runSuite(url, revision, options(revision));
      console.log(`${outcome.ok ? "ok" : "FAILED"}: ${what}, ${revision}: ${outcome.total}`);
      if (!outcome.ok) {
        console.log(outcome.output.slice(outcome.output.indexOf("=== SUMMARY")));
        bad.push(`${what} ${revision}`);
      }
    }
  } finally {
    child.kill("SIGKILL");
  }
  return bad;
}

/** The Inspector's command line, in each era, with a token; its strict mode also reads our schemas. */
async function inspect() {
  const tokens = join(scratch, "tokens.json");
  const added = await run(process.execPath, [served, "token", "add", "inspector", "--tokens", tokens]);
  const child = spawn(
    process.execPath,
    [served, "--http", "0", "--tokens", tokens, join(scratch, "served")],
    {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, POLYFS_STATE_DIR: join(scratch, "state") },
    },
  );
  let ok = true;
  try {
    const url = await firstUrl(child);
    const header = `Authorization: Bearer ${added.stdout.trim()}`;
    for (const era of ["legacy", "auto", "modern"]) {
      const { look, node } = installed;
      const args = [look, "--cli", url, "--transport", "http", "--header", header, "--protocol-era", era];
      const listed = await run(node, [...args, "--strict", "--method", "tools/list"], {
        timeout: 60_000,
        maxBuffer: 64 * 1024 * 1024,
        env: { ...process.env, MCP_CATALOG_PATH: join(scratch, "catalog.json") },
      }).then(
        ({ stdout }) => stdout,
        error => `${error.message}\n${error.stdout ?? ""}`,
      );
      const good = listed.includes('"inputSchema"') && !listed.startsWith("Command failed");
      console.log(`${good ? "ok" : "FAILED"}: the Inspector, ${era}`);
      if (!good) console.log(listed.slice(0, 2000));
      ok &&= good;
    }
  } finally {
    child.kill("SIGKILL");
  }
  return ok;
}

async function firstUrl(child) {
  return await new Promise((resolve, reject) => {
    let said = "";
    const take = chunk => {
      said += chunk;
      const [url] = /http:\/\/\S+\/mcp/.exec(said) ?? [];
      if (url !== undefined) resolve(url);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.once("exit", () => reject(new Error(`the server ended: ${said}`)));
  });
}

async function runSuite(url, revision, options) {
  const { command, node } = installed;
  const args = [
    command,
    "server",
    "--url",
    url,
    "--requirements",
    revision,
    "-o",
    join(scratch, "results"),
    ...options,
  ];
  const result = await run(node, args, { timeout: 240_000, maxBuffer: 64 * 1024 * 1024, cwd: scratch }).then(
    ({ stdout }) => ({ ok: true, output: stdout }),
    error => ({ ok: false, output: `${error.stdout ?? ""}${error.stderr ?? ""}${error.message}` }),
  );
  return { ...result, total: /^Total: .*$/m.exec(result.output)?.[0] ?? "no result" };
}
