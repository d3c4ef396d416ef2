// Checks the documentation: every relative link and anchor exists, every JSON block parses, every npm script, suite,
// bench, test and file in a command exists, every measured figure has a command beside it that measures it again, and
// every polyfs command line is run, in a home and a project of its own. A command line that the program does not
// understand exits with 2, and fails the check.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { figuresWithoutCommand } from "./measured-figures.mjs";
import { slug } from "./site/anchor.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const scripts = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).scripts;
const problems = [];
let written = 0;
const counts = {
  links: 0,
  "external links, not followed": 0,
  "JSON blocks": 0,
  "names of commands and tests": 0,
  "commands run": 0,
  "other commands": 0,
};

install();
await build();
const pages = pagesBelow(root);
const texts = new Map(pages.map(page => [page, readFileSync(page, "utf8")]));
for (const [page, text] of texts) {
  checkLinks(page, withoutBlocks(text));
  checkNames(page, text);
  checkFigures(page, text);
  for (const { language, code, line } of blocksOf(text)) {
    if (language === "json") checkJson(page, line, code);
  }
}
runCommands();
for (const [what, count] of Object.entries(counts)) console.log(`${what}: ${count}`);
for (const problem of problems) console.log(problem);
if (problems.length > 0) process.exitCode = 1;

function pagesBelow(top) {
  const guides = readdirSync(join(top, "docs"), { recursive: true, withFileTypes: true })
    .filter(
      entry => entry.isFile() && entry.name.endsWith(".md") && !entry.parentPath.includes("node_modules"),
    )
    .map(entry => join(entry.parentPath, entry.name));
  const main = readdirSync(top).filter(name => name.endsWith(".md"));
  return [...main.map(name => join(top, name)), ...guides];
}

function fail(page, line, problem) {
  problems.push(`${relative(root, page)}${line === undefined ? "" : `:${line}`}: ${problem}`);
}

/** What a page names in its text or in a block: scripts of npm, suites of proof/, files of bench/, tools and tests. */
function checkNames(page, text) {
  const suites = readFileSync(join(root, "proof/suites.ts"), "utf8");
  const kinds = [
    [/\bnpm run ([\w:-]+)/g, name => scripts[name] !== undefined],
    [/\bnpm run proof -- (\w[\w-]*)/g, name => new RegExp(`^ {2}"?${name}"?: async`, "m").test(suites)],
    [/\bnode bench\/run\.mjs (\w[\w-]*)/g, name => existsSync(join(root, `bench/${name}.ts`))],
    [/\bnode ((?:tools|bench|proof)\/[\w./-]+)/g, path => existsSync(join(root, path))],
    [/(?<![\w/])(test\/[\w./-]+\.test\.ts)\b/g, path => existsSync(join(root, path))],
  ];
  for (const [form, exists] of kinds)
    for (const { 0: whole, 1: name, index } of text.matchAll(form)) {
      counts["names of commands and tests"]++;
      if (!exists(name)) fail(page, text.slice(0, index).split("\n").length, `${whole}: there is no ${name}`);
    }
}

/** The generated page of errors has figures in its examples only. */
function checkFigures(page, text) {
  if (relative(root, page) === join("docs", "errors.md")) return;
  const isDecision = relative(root, page).startsWith(join("docs", "decisions"));
  for (const { line, what } of figuresWithoutCommand(text, { byHand: isDecision }))
    fail(page, line, `${what}, and its section names no command that measures it`);
}

function blocksOf(text) {
  return [...text.matchAll(/^```(\w*)\n(.*?)^```/gms)].map(({ 1: language, 2: code, index }) => ({
    language,
    code,
    line: text.slice(0, index).split("\n").length + 1,
  }));
}

function withoutBlocks(text) {
  return text.replaceAll(/^```.*?^```/gms, "").replaceAll(/`[^`\n]*`/g, "``");
}

function checkLinks(page, text) {
  const targets = [
    ...[...text.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(match => match[1]),
    ...[...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(match => match[1]),
  ];
  for (const target of targets) {
    if (/^[a-z]+:/i.test(target)) {
      counts["external links, not followed"]++;
      continue;
    }
    counts.links++;
    const [path, anchor] = target.split("#");
    const file = path === "" ? page : join(dirname(page), decodeURIComponent(path));
    if (!existsSync(file)) fail(page, undefined, `the link ${target} leads nowhere`);
    else if (anchor !== undefined && file.endsWith(".md") && !anchorsOf(file).has(anchor))
      fail(page, undefined, `the link ${target}: there is no such heading`);
  }
}

function anchorsOf(file) {
  const text = texts.get(file) ?? readFileSync(file, "utf8");
  const headings = [...withoutFences(text).matchAll(/^#{1,6} +(.*)$/gm)].map(match => slug(match[1]));
  const named = [...text.matchAll(/<a (?:id|name)="([^"]+)"/g)].map(match => match[1]);
  return new Set([...headings, ...named]);
}

function withoutFences(text) {
  return text.replaceAll(/^```.*?^```/gms, "");
}

function checkJson(page, line, code) {
  counts["JSON blocks"]++;
  try {
    JSON.parse(code);
  } catch (error) {
    fail(page, line, `JSON that does not parse: ${error.message}`);
  }
}

/** Serves until it is stopped: that it starts is enough. */
function isService(command) {
  return /--http\b|polyfs (review|watch|selftest)\b/.test(command);
}

function runCommands() {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-docs-")));
  try {
    const world = makeWorld(scratch);
    const done = new Set();
    for (const [page, text] of texts) {
      for (const { language, code, line } of blocksOf(text)) {
        if (language !== "sh" && language !== "") continue;
        for (const [i, command] of commandLines(code).entries()) {
          if (command === "") continue;
          checkCommand(page, line + i, command, world, done);
        }
      }
    }
  } finally {
    unmountBelow(scratch);
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Forks may be mounts. */
function unmountBelow(directory) {
  if (!existsSync("/proc/self/mounts")) return;
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map(line => line.split(" ")[1] ?? "");
  for (const mount of mounts.filter(path => path.startsWith(directory)).reverse())
    spawnSync("umount", ["-l", mount]);
}

/** The lines of a block, comments taken off; continued lines are joined to their first. */
function commandLines(code) {
  const lines = [];
  let open = false;
  for (const line of code.split("\n")) {
    const plain = line
      .replace(/^\$ /, "")
      .replace(/(^|\s)#\s.*$/, "")
      .trimEnd();
    if (open) {
      const first = lines.findLastIndex(one => one !== "");
      lines[first] = `${lines[first].slice(0, -1)} ${plain.trim()}`;
      lines.push("");
    } else lines.push(plain);
    open = plain.endsWith("\\");
  }
  return lines;
}

function checkCommand(page, line, command, world, done) {
  const script = /^npm run ([\w:-]+)/.exec(command)?.[1] ?? /^npm (start|test)\b/.exec(command)?.[1];
  if (script !== undefined && scripts[script] === undefined)
    return fail(page, line, `there is no npm script ${script}`);
  const file = /^(?:node )?((?:\.ci|tools|bench|proof|packaging)\/[\w./-]+)(?=\s|$)/.exec(command)?.[1];
  if (file !== undefined && !existsSync(join(root, file))) fail(page, line, `there is no ${file}`);
  const own = command.replace(/^npm start -- /, "polyfs ").replace(/^npx -y polyfs\b/, "polyfs");
  if (!/^(polyfs|eval "\$\(polyfs)\b/.test(own)) {
    counts["other commands"]++;
    return;
  }
  if (done.has(own)) return;
  done.add(own);
  counts["commands run"]++;
  world.prepare(own);
  const words = own
    .replaceAll(/\b(mf3k2a7bx9q04k|CHANGE)\b/g, () => world.change())
    .replaceAll("3f9a1c2b", () => world.grant())
    .replaceAll(/\bDIR(\.\.\.|…)?(?=\s|$)/g, world.project)
    .replaceAll(/(--http|--metrics-listen) (\S*:)?\d+/g, "$1 127.0.0.1:0")
    .replaceAll("/Volumes/Stick", world.home)
    .replaceAll(/\/(var\/log\/polyfs|etc\/polyfs|backup|srv)\//g, `${world.home}/`);
  const { status, signal, stderr } = spawnSync(
    "timeout",
    ["-s", "TERM", isService(own) ? "2" : "60", "bash", "-c", words],
    {
      cwd: world.project,
      env: own.startsWith("polyfs store")
        ? { ...world.env, POLYFS_STORE: join(world.home, "store") }
        : world.env,
      stdio: ["ignore", "ignore", "pipe"],
      encoding: "utf8",
    },
  );
  if (status === 2 || status === 127 || signal !== null || (status === 124 && !isService(own)))
    fail(
      page,
      line,
      `${command}: exit ${status ?? signal}: ${stderr.trim().split("\n").slice(-3).join(" ")}`,
    );
}

/** A home and a project in which the documented commands find what they talk about. */
function makeWorld(scratch) {
  const home = join(scratch, "home");
  const project = join(home, "project");
  for (const path of ["src", "migrations"]) mkdirSync(join(project, path), { recursive: true });
  for (const path of [
    "notes",
    "reference",
    "projects/site",
    ".zfunc",
    ".config/fish/completions",
    ".config/polyfs",
    ".cursor",
    "bin",
  ])
    mkdirSync(join(home, path), { recursive: true });
  const write = (path, content) => writeFileSync(join(home, path), content);
  write("project/README.md", "# Project\n\nTODO\n");
  write("project/a.txt", "one\n");
  write("project/old.csv", Buffer.from("Gr\xf6\xdfe;1\n", "latin1"));
  write("project/src/main.ts", "export const one = 1;\n");
  write("project/.env", "KEY=value\n");
  write("project/profile.json", JSON.stringify({ read_write: [project], read_only: [] }));
  write("project/policy.json", '{ "rules": [{ "paths": [".env"], "access": "mask" }] }\n');
  write(".config/polyfs/policy.json", '{ "rules": [{ "paths": [".env"], "access": "mask" }] }\n');
  const patch = "*** Begin Patch\n*** Add File: b.txt\n+two\n*** End Patch\n";
  write("project/parameters.json", JSON.stringify({ patch }));
  const program = join(root, "dist/polyfs.cjs");
  writeFileSync(join(home, "bin/polyfs"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("POLYFS_"))),
    HOME: home,
    XDG_STATE_HOME: join(home, "state"),
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_CACHE_HOME: join(home, ".cache"),
    PATH: `${join(home, "bin")}:${process.env.PATH}`,
    NO_COLOR: "1",
  };
  const polyfs = (args, input = "") =>
    spawnSync(join(home, "bin/polyfs"), args, { cwd: project, env, input, encoding: "utf8" });
  return {
    home,
    project,
    env,
    /** What a command line needs to be there, and what it must not find. */
    prepare(command) {
      if (/--client\b|polyfs undo/.test(command)) polyfs([project], changeBy("claude-code"));
      const token = /polyfs token add (\w+)/.exec(command)?.[1];
      if (token !== undefined) polyfs(["token", "remove", token, "--tokens", "tokens.json"]);
      for (const name of /polyfs token (?:rotate|remove) (\w+)|--as (\w+)/.exec(command)?.slice(1) ?? [])
        if (name !== undefined) polyfs(["token", "add", name, "--tokens", "tokens.json"]);
      if (/polyfs revoke/.test(command)) polyfs(["grant", "migrations", "--write", "--for", "1h"]);
    },
    /** The id of a change that can be undone. */
    change: () =>
      /"id":\s*"([^"]+)"/.exec(polyfs(["history", "--limit", "1", "--json"]).stdout)?.[1] ?? "none",
    grant() {
      polyfs(["grant", "src", "--write", "--for", "1h"]);
      return /^([0-9a-f]{8})\b/m.exec(polyfs(["grants"]).stdout)?.[1] ?? "none";
    },
  };
}

/** What a client of this name sends to write a file. */
function changeBy(name) {
  const request = (id, method, params) => `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const clientInfo = { name, version: "1" };
  const file = { path: `new-${++written}.txt`, content: "x\n" };
  return (
    request(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }) +
    request(2, "tools/call", { name: "write_file", arguments: file })
  );
}
