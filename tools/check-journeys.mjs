// Follows the four journeys of ARCHITECTURE.md in the running program: every file that a diagram names must run.
// The sources are transpiled one by one, so that V8's coverage reports them under their own names.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "polyfs-journeys-"));
const [tree, state, tokens] = ["tree", "state", "tokens.json"].map(name => join(folder, name));
const program = join(folder, "src/cli/program.js");

const edit = (from, to) => ({
  name: "edit_file",
  arguments: { path: "a.txt", edits: [{ old: from, new: to }] },
});
const search = arguments_ => ({ name: "search_text", arguments: arguments_ });
const undo = arguments_ => ({ name: "undo", arguments: arguments_ });

/** By the heading of the diagram: what runs it. */
const journeys = {
  "An edit": coverage => overStdio(coverage, [edit("two", "2"), edit("2", "two")]),
  "A search": coverage =>
    overStdio(coverage, [
      search({ pattern: "needle" }),
      search({ pattern: "needle", output: "files" }),
      search({ pattern: "needle", path: "small", literal: true }),
      search({ pattern: "needle", path: "small", literal: true }),
    ]),
  "An HTTP call": overHttp,
  "An undo": async coverage => {
    await overStdio(coverage, [
      edit("one", "1"),
      { name: "delete_path", arguments: { path: "small", recursive: true } },
      undo({}),
      undo({ path: "a.txt", hunks: [1] }),
      edit("two", "2"),
      edit("three", "3"),
      undo({ since: "1h" }),
    ]);
    const { status, stderr } = polyfs(["undo", "--state-dir", state, "--workspace", tree], coverage);
    if (status !== 0) throw new Error(`polyfs undo: ${stderr}`);
  },
};

try {
  await prepare();
  let failed = 0;
  for (const [title, run] of Object.entries(journeys)) {
    const coverage = join(folder, title);
    await run(coverage);
    const ran = filesThatRan(coverage);
    const named = steps(title);
    const missing = named.filter(alternatives => !alternatives.some(file => ran.has(file)));
    for (const files of missing) console.error(`${title}: ${files.join(" or ")} does not run`);
    console.log(`${title}: ${named.length} steps, ${named.length - missing.length} of them run`);
    failed += missing.length;
  }
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function prepare() {
  await build({
    entryPoints: ["src/**/*.ts"],
    absWorkingDir: root,
    outdir: join(folder, "src"),
    outbase: "src",
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
  });
  for (const name of readdirSync(join(folder, "src"), { recursive: true })) {
    if (!name.endsWith(".js")) continue;
    const file = join(folder, "src", name);
    const code = readFileSync(file, "utf8");
    writeFileSync(file, code.replace(/((?:from|import\(|import)\s*"\.[^"]*)\.ts"/g, '$1.js"'));
  }
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  for (const name of ["dist", "node_modules"]) symlinkSync(join(root, name), join(folder, name));
  mkdirSync(join(tree, "large"), { recursive: true });
  mkdirSync(join(tree, "small"));
  // More files than are searched without ripgrep.
  for (let i = 0; i < 400; i++) writeFileSync(join(tree, "large", `${i}.txt`), "a needle\n");
  writeFileSync(join(tree, "small/b.txt"), "a needle\n");
  writeFileSync(join(tree, "a.txt"), "one\ntwo\nthree\n");
  writeFileSync(join(tree, ".gitignore"), "*.log\n");
}

/** The files of a diagram, each with its alternatives: `tokens.ts or oauth.ts` is one step. */
function steps(title) {
  const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
  const diagram = text.split(`\n### ${title}\n`)[1]?.match(/```\n([\s\S]*?)```/)?.[1];
  if (diagram === undefined) throw new Error(`ARCHITECTURE.md has no diagram of ${title}`);
  const found = [];
  let directory = "";
  for (const [, or, path, name] of diagram.matchAll(/(\bor\s+)?(?<![\w./-])((?:[\w-]+\/)*)([\w-]+\.ts)\b/g)) {
    if (path !== "") directory = path;
    if (or === undefined) found.push([`${directory}${name}`]);
    else found.at(-1).push(`${directory}${name}`);
  }
  return found;
}

/** The files of which a function has run. */
function filesThatRan(coverage) {
  const ran = new Set();
  for (const name of readdirSync(coverage)) {
    for (const { url, functions } of JSON.parse(readFileSync(join(coverage, name), "utf8")).result) {
      const file = decodeURI(url).split(`${folder}/src/`)[1]?.replace(/\.js$/, ".ts");
      if (
        file !== undefined &&
        functions.some(({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0)
      )
        ran.add(file);
    }
  }
  return ran;
}

function environment(coverage) {
  return { ...process.env, NODE_V8_COVERAGE: coverage, POLYFS_CODE_CACHE: "off" };
}

function polyfs(args, coverage) {
  return spawnSync(process.execPath, [program, ...args], { encoding: "utf8", env: environment(coverage) });
}

async function overStdio(coverage, calls) {
  const server = spawn(process.execPath, [program, "--state-dir", state, tree], {
    stdio: ["pipe", "pipe", "ignore"],
    env: environment(coverage),
  });
  const closed = new Promise(resolve => server.once("close", resolve));
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  try {
    const clientInfo = { name: "journey", version: "1" };
    const first = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const requests = [["initialize", first], ...calls.map(call => ["tools/call", call])];
    for (const [id, [method, params]] of requests.entries()) {
      server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      for (;;) {
        const { value, done } = await lines.next();
        if (done) throw new Error(`${method} ${params.name ?? ""}: no answer`);
        const message = JSON.parse(value);
        if (message.id !== id) continue;
        if (message.error || message.result.isError) throw new Error(`${JSON.stringify(params)}: ${value}`);
        break;
      }
    }
    server.stdin.end();
    await closed;
  } finally {
    server.kill("SIGKILL");
  }
}

async function overHttp(coverage) {
  const added = polyfs(["token", "add", "ann", "--tokens", tokens, "--write", tree], join(folder, "unused"));
  const token = added.stdout.match(/\S{40,}/)?.[0];
  const args = [
    "--http",
    "0",
    "--tokens",
    tokens,
    "--audit",
    join(folder, "audit.log"),
    "--state-dir",
    state,
    tree,
  ];
  const server = spawn(process.execPath, [program, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
    env: environment(coverage),
  });
  const closed = new Promise(resolve => server.once("close", resolve));
  try {
    const address = await listening(server);
    const post = (session, body) =>
      fetch(address, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(session ? { "mcp-session-id": session } : {}),
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
      });
    const clientInfo = { name: "journey", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const opened = await post(undefined, { method: "initialize", params });
    await opened.text();
    const call = { name: "read_file", arguments: { path: "a.txt" } };
    const answer = await post(opened.headers.get("mcp-session-id"), { method: "tools/call", params: call });
    const text = await answer.text();
    if (!text.includes("three")) throw new Error(`over HTTP: ${answer.status} ${text}`);
    server.kill("SIGTERM");
    await closed;
  } finally {
    server.kill("SIGKILL");
  }
}

/** The address that the server prints when it is ready. */
async function listening(server) {
  for await (const line of createInterface({ input: server.stderr })) {
    const port = line.match(/127\.0\.0\.1:(\d+)|localhost:(\d+)/);
    if (port) return `http://127.0.0.1:${port[1] ?? port[2]}/mcp`;
  }
  throw new Error("the server did not start");
}
