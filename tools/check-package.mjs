// Checks the package as its users get it: packs it, lints the tarball, installs it into an empty directory, uses the
// program there as the README says, and compiles and runs the documented examples against it.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { bundledPackages, noticesName } from "./notices.mjs";
import { pageOptions } from "./page.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** Programs that use the examples, in a directory with a project, and what they print. */
const exampleRuns = [
  [
    `import { ask } from "./agent-loop.mjs";
    const model = async (tools, said) => said.length > 2 ? { text: said[2] }
      : { call: { name: tools[0].name, params: { path: "hello.txt" } } };
    console.log(await ask(model, "What is in hello.txt?", "project"));`,
    "world",
  ],
  [
    `import { tryInFork } from "./forks.mjs";
    console.log((await tryInFork("project", "forks")).join("\\n"));`,
    "added new.txt",
  ],
  [
    `import { writeMigration } from "./rules.mjs"; console.log(await writeMigration("project", false));`,
    "not today",
  ],
  [
    `import { writeMigration } from "./rules.mjs"; console.log(await writeMigration("project", true));`,
    "1.sql",
  ],
  [
    `import { undoLastOf } from "./history.mjs"; console.log((await undoLastOf("unknown", "project")).join());`,
    "1.sql: ",
  ],
  [
    `import { call, openEngine, outcomeText } from "polyfs";
    import { withStamp } from "./own-tool.mjs";
    const engine = openEngine({ roots: [{ path: "project", access: "read-write" }] });
    console.log(outcomeText(await call(await withStamp(), "stamp_file", { path: "stamp" }, { engine })));`,
    "Stamped stamp",
  ],
  [
    `import "./http-handler.mjs";
    const answer = await fetch("http://127.0.0.1:8123/mcp", { method: "POST" });
    console.log(answer.status);
    process.kill(process.pid, "SIGTERM");`,
    "415",
  ],
];
const { version, scripts, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const scratch = mkdtempSync(join(tmpdir(), "polyfs-package-"));

try {
  for (const name of ["preinstall", "install", "postinstall", "prepare"]) {
    if (name in scripts) fail(`the package has an install script: ${name}`);
  }
  const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", scratch], root));
  console.log(`${packed.filename}: ${packed.size} bytes packed, ${packed.unpackedSize} unpacked`);
  for (const { path } of packed.files) console.log(`  ${path}`);
  // 1.3 MB of it are grammars, 0.5 MB what reads PDFs.
  if (packed.size > 3_500_000) fail("the package has grown beyond 3.5 MB");
  const tarball = join(scratch, packed.filename);

  const lint = await publint({
    strict: true,
    pack: { tarball: arrayBuffer(readFileSync(tarball)) },
  });
  if (lint.messages.length > 0)
    fail(lint.messages.map(message => formatMessage(message, lint.pkg)).join("\n"));

  const home = join(scratch, "home");
  installInto(home, tarball);
  const said = run(
    process.execPath,
    [join(home, "node_modules/polyfs/dist/polyfs.cjs"), "--version"],
    home,
  ).trim();
  if (said !== version) fail(`polyfs --version says ${said}, not ${version}`);
  run(process.execPath, ["--input-type=module", "--eval", 'await import("polyfs")'], home);
  await noticesNameAll(home);
  pageIsSmall(home);
  firstMinutes(home);
  compileAgainst(home);
  await runExamples(home);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** With npm where the registry or its cache can be reached; else by hand, with the dependencies of this tree. */
function installInto(home, tarball) {
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "home", private: true, type: "module" }));
  const args = ["install", tarball, "--prefer-offline", "--fetch-retries=0", "--loglevel=error"];
  const { status, stderr } = spawnSync("npm", args, {
    cwd: home,
    encoding: "utf8",
    shell: process.platform === "win32",
  });
  if (status === 0) return;
  console.log(`npm could not install it, so it is unpacked by hand:\n${stderr.trim()}`);
  const target = join(home, "node_modules/polyfs");
  mkdirSync(target, { recursive: true });
  run("tar", ["-xzf", tarball, "--strip-components=1", "-C", target], home);
  for (const name of Object.keys(dependencies)) {
    cpSync(join(root, "node_modules", name), join(home, "node_modules", name), { recursive: true });
  }
}

/** Computed from the sources, however the build bundles them. */
async function noticesNameAll(home) {
  const { build } = await import("esbuild");
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ["src/cli/program.ts", "src/index.ts"],
    outdir: scratch,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["@vscode/ripgrep"],
    metafile: true,
    write: false,
  });
  const page = await build({ ...pageOptions(root), metafile: true, write: false });
  const text = readFileSync(join(home, "node_modules/polyfs/dist", noticesName), "utf8");
  const bundled = bundledPackages(root, [metafile, page.metafile]).map(
    ({ name, version }) => `${name} ${version} (`,
  );
  const missing = bundled.filter(head => !text.includes(`\n${head}`));
  if (missing.length > 0) fail(`${noticesName} lacks ${missing.join(", ")}`);
  // Guards the search itself: these are known to be included.
  for (const name of [
    "ajv",
    "iconv-lite",
    "jose",
    "zod",
    "@modelcontextprotocol/server",
    "preact",
    "web-tree-sitter",
    "@vscode/tree-sitter-wasm",
  ]) {
    if (!text.includes(`\n${name} `)) fail(`${noticesName} lacks ${name}`);
  }
  console.log(`the licences of ${bundled.length} bundled packages are in it`);
}

/** The review page, compressed as a browser gets it. */
function pageIsSmall(home) {
  const folder = join(home, "node_modules/polyfs/dist/review");
  const sizes = ["index.html", "app.js", "app.css"].map(
    name => gzipSync(readFileSync(join(folder, name))).length,
  );
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`the review page: ${total} bytes compressed`);
  if (total > 40_000) fail("the review page has grown beyond 40 KB, compressed");
}

/** What a new user does first, in a directory with nothing but Node. */
function firstMinutes(home) {
  const project = join(home, "project");
  mkdirSync(project);
  writeFileSync(join(project, "hello.txt"), "hello\nworld\n");
  const polyfs = (...args) =>
    run(process.execPath, [join(home, "node_modules/polyfs/dist/polyfs.cjs"), ...args], project);
  const expect = (found, wanted) => {
    if (!found.includes(wanted)) fail(`expected ${JSON.stringify(wanted)} in:\n${found}`);
  };
  expect(polyfs("setup", "--print", "claude-desktop"), '"mcpServers"');
  expect(polyfs("tools"), "read_file");
  expect(JSON.parse(polyfs("call", "read_file", '{"path":"hello.txt"}')).content[0].text, "world");
  polyfs("call", "edit_file", '{"path":"hello.txt","edits":[{"old":"world","new":"you"}]}');
  expect(polyfs("history", "--diff"), "+you");
  polyfs("undo");
  expect(readFileSync(join(project, "hello.txt"), "utf8"), "world");
  writeFileSync(join(project, "old.txt"), Buffer.from("caf\u00e9 cr\u00e8me br\u00fbl\u00e9e\n", "latin1"));
  expect(polyfs("call", "read_file", '{"path":"old.txt"}'), "café crème");
  polyfs("doctor");
}

function compileAgainst(home) {
  const types = join(root, "node_modules/@types");
  const examples = readdirSync(join(root, "docs/examples"));
  for (const name of examples) cpSync(join(root, "docs/examples", name), join(home, name));
  const flags = [
    ...["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023", "--allowImportingTsExtensions"],
    ...["--lib", "es2023,esnext.disposable", "--types", "node", "--typeRoots", types],
  ];
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...flags, ...examples], home);
  statSync(join(home, "node_modules/polyfs/dist/types/index.d.ts"));
  console.log(`${examples.length} examples compile`);
}

/** Each documented example does what its page says. */
async function runExamples(home) {
  const { transformSync } = await import("esbuild");
  for (const name of readdirSync(join(root, "docs/examples"))) {
    const source = readFileSync(join(home, name), "utf8").replaceAll(/"(\.\/[\w-]+)\.ts"/g, '"$1.mjs"');
    const code = transformSync(source, { loader: "ts", target: "node20" }).code;
    writeFileSync(join(home, name.replace(/\.ts$/, ".mjs")), code);
  }
  for (const [program, wanted] of exampleRuns) {
    const said = run(process.execPath, ["--input-type=module", "--eval", program], home);
    if (!said.includes(wanted)) fail(`an example says ${said}, not ${wanted}:\n${program}`);
  }
  console.log(`${exampleRuns.length} examples run`);
}

function run(command, args, cwd) {
  const shell = process.platform === "win32" && command === "npm";
  const env = { ...process.env, POLYFS_STATE_DIR: join(scratch, "state") };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8", shell, env });
  if (status !== 0) fail(`${command} ${args.join(" ")}\n${error?.message ?? ""}${stdout}${stderr}`);
  return stdout;
}

function arrayBuffer({ buffer, byteOffset, byteLength }) {
  return buffer.slice(byteOffset, byteOffset + byteLength);
}

function fail(message) {
  throw new Error(message);
}
