// `node tools/mutate.mjs [AREA…] [--count N] [--seed N] [--skip N] [--seconds N] [--checked] [--only FILE:LINE]`:
// how many small faults the tests notice. Copies the checkout, makes one fault at a time in the sources of an area, and
// runs the tests of that area on it. A fault that no test notices has survived. A run starts no fault after --seconds;
// --skip continues a sample where it ended, and --checked leaves out the run without a fault. docs/reliability.md has
// the scores and says what they mean.
import { spawnSync } from "node:child_process";
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
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { parseSync, visitorKeys } from "oxc-parser";

/**
 * Sources and the tests that must notice a fault in them. `tests` are quick and import the sources; what they miss is
 * built and goes to `moreTests`, too.
 */
const areas = {
  edit: {
    sources: ["src/engine/edit"],
    tests: ["test/edit/edit", "test/edit/merge", "test/edit/patch"],
    moreTests: ["test/dialects/polyfs/editing"],
  },
  resolve: {
    sources: ["src/engine/workspace/resolve.ts"],
    tests: ["test/workspace/opening", "test/workspace/links", "test/workspace/names"],
    moreTests: ["test/workspace", "test/system", "test/commit/hostile"],
  },
  commit: {
    sources: ["src/engine/workspace/commit"],
    tests: ["test/commit/changes"],
    moreTests: [
      "test/commit/recovering",
      "test/commit/disk",
      "test/commit/faults",
      "test/commit/shared-commit",
      "test/commit/user-lock",
      "test/history/undo",
    ],
  },
  auth: {
    sources: ["src/mcp/auth"],
    tests: ["test/http/token-rights"],
    moreTests: ["test/http/oauth", "test/http/refusals", "test/http/calls"],
  },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "40" },
    seed: { type: "string", default: "1" },
    skip: { type: "string", default: "0" },
    seconds: { type: "string", default: "86400" },
    checked: { type: "boolean", default: false },
    only: { type: "string" },
  },
});

const root = join(import.meta.dirname, "..");
const copy = mkdtempSync(join(tmpdir(), "polyfs-mutate-"));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
process.on("exit", () => rmSync(copy, { recursive: true, force: true }));
const { stdout } = spawnSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
for (const file of stdout.split("\0").filter(Boolean)) {
  mkdirSync(dirname(join(copy, file)), { recursive: true });
  cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true });
}
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));

function run(name) {
  const area = areas[name];
  if (area === undefined) throw new Error(`no area ${name}; there are ${Object.keys(areas).join(", ")}`);
  const all = area.sources.flatMap(filesBelow).flatMap(mutantsOf);
  const chosen = values.only
    ? all.filter(({ file, line }) => `${file}:${line}`.endsWith(values.only))
    : sample(all, Number(values.count), Number(values.seed)).slice(Number(values.skip));
  const began = performance.now();
  const { tests, moreTests } = area;
  if (!values.checked && !passes([...tests, ...moreTests], { timeout: 1_200_000, stdio: "inherit" }))
    throw new Error(`the tests of ${name} fail without a fault`);
  const limit = Math.max(120_000, Math.round(5 * (performance.now() - began)));
  const survivors = [];
  let tried = 0;
  for (const mutant of chosen) {
    if (performance.now() > 1000 * Number(values.seconds)) break;
    tried++;
    const path = join(copy, mutant.file);
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end));
    const survived =
      passes(tests, { timeout: limit, isBuilt: false }) && passes(moreTests, { timeout: limit });
    writeFileSync(path, text);
    if (survived) survivors.push(mutant);
    const before = text.slice(mutant.start, mutant.end).replaceAll(/\s+/g, " ").slice(0, 100);
    const after = mutant.replacement.replaceAll(/\s+/g, " ").slice(0, 100) || "nothing";
    console.log(
      `${survived ? "SURVIVED" : "killed  "} ${mutant.file}:${mutant.line}  ${before}  →  ${after}`,
    );
  }
  const killed = tried - survivors.length;
  console.log(
    `${name}: ${killed} of ${tried} killed (${Math.round((100 * killed) / tried)} %), of ${all.length} possible`,
  );
}

/** A fault that hangs a test counts as noticed. */
function passes(tests, { timeout, stdio = "ignore", isBuilt = true }) {
  const vitest = [
    "node_modules/vitest/vitest.mjs",
    "run",
    ...tests,
    "--bail=1",
    "--maxWorkers=2",
    "--reporter=dot",
  ];
  const env = isBuilt ? process.env : { ...process.env, POLYFS_TEST_BUILD: "off" };
  return spawnSync(process.execPath, vitest, { cwd: copy, timeout, stdio, env }).status === 0;
}

function filesBelow(path) {
  if (path.endsWith(".ts")) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
    .filter(file => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .map(file => join(path, file));
}

const opposite = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "|": "&",
  "&": "|",
  in: "instanceof",
};

/** Every fault that can be made in a file: a range of it, and what to put there. */
function mutantsOf(file) {
  const text = readFileSync(join(root, file), "utf8");
  const found = [];
  const add = (node, replacement) =>
    found.push({
      file,
      line: text.slice(0, node.start).split("\n").length,
      start: node.start,
      end: node.end,
      replacement,
    });
  const source = node => text.slice(node.start, node.end);
  const visit = node => {
    if (/^TS(?!AsExpression|NonNull|Satisfies)/.test(node.type)) return;
    switch (node.type) {
      case "IfStatement":
      case "ConditionalExpression":
        add(node.test, "true");
        add(node.test, "false");
        break;
      case "BinaryExpression":
      case "LogicalExpression":
        if (node.operator === "??") add(node, source(node.left));
        else if (opposite[node.operator] && !isText(node))
          add(node, `${source(node.left)} ${opposite[node.operator]} ${source(node.right)}`);
        break;
      case "UnaryExpression":
        if (node.operator === "!") add(node, source(node.argument));
        break;
      case "ExpressionStatement":
        if (!node.directive) add(node, ";");
        break;
      case "ThrowStatement":
        add(node, ";");
        break;
      case "ReturnStatement":
        if (node.argument?.type === "Literal" && typeof node.argument.value === "boolean")
          add(node.argument, String(!node.argument.value));
        break;
    }
    for (const key of visitorKeys[node.type] ?? []) {
      const child = node[key];
      for (const one of Array.isArray(child) ? child : [child])
        if (one && typeof one.type === "string") visit(one);
    }
  };
  visit(parseSync(file, text).program);
  return found;
}

/** Adding texts: nothing else can be done with them. */
function isText({ operator, left, right }) {
  const isString = node =>
    node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
  return operator === "+" && (isString(left) || isString(right));
}

/** A random choice in random order, so that the first of them are a fair sample, too. A seed repeats it. */
function sample(all, count, seed) {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 4_294_967_296;
  };
  const marked = all.map(mutant => ({ mutant, order: random() })).sort((a, b) => a.order - b.order);
  return marked.slice(0, count).map(({ mutant }) => mutant);
}

for (const name of positionals.length > 0 ? positionals : Object.keys(areas)) run(name);
