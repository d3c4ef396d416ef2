// Runs the examples in docs/adapters: installs each framework beside a link to this package, gives it the tools, and
// calls one of them through the framework. Not part of .ci/run, because the frameworks weigh hundreds of megabytes.
import { spawnSync } from "node:child_process";
import {
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
import { fileURLToPath } from "node:url";
import { transformSync } from "esbuild";
import { build } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const adapters = {
  "ai-sdk": {
    packages: ["ai@7", "zod@4"],
    call: "(await import(file)).toolsForAiSdk(dialect, engine).read_file.execute(params, { toolCallId: '1', messages: [] })",
  },
  langchain: {
    packages: ["@langchain/core@1"],
    call: "(await import(file)).toolsForLangChain(dialect, engine).find(({ name }) => name === 'read_file').invoke(params)",
  },
  "openai-agents": {
    packages: ["@openai/agents@0.20", "zod@4"],
    call: "(await import(file)).toolsForOpenAiAgents(dialect, engine).find(({ name }) => name === 'read_file').invoke(new (await import('@openai/agents')).RunContext({}), JSON.stringify(params))",
  },
  mastra: {
    packages: ["@mastra/core@1", "zod@4"],
    call: "(await import(file)).toolsForMastra(dialect, engine).read_file.execute(params, {})",
  },
};

await build();
const named = readdirSync(join(root, "docs/adapters")).map(name => name.replace(/\.ts$/, ""));
const unknown = named.filter(name => !Object.hasOwn(adapters, name));
if (unknown.length > 0) throw new Error(`not checked: ${unknown.join(", ")}`);
for (const name of named) {
  const home = mkdtempSync(join(tmpdir(), "polyfs-adapter-"));
  try {
    check(name, home);
    console.log(`${name}: a tool was called`);
  } catch (error) {
    console.log(`${name}: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function check(name, home) {
  const { packages, call } = adapters[name];
  writeFileSync(join(home, "package.json"), '{ "type": "module", "private": true }\n');
  run(
    "npm",
    ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...packages],
    home,
  );
  symlinkSync(root, join(home, "node_modules/polyfs"));
  const source = readFileSync(join(root, "docs/adapters", `${name}.ts`), "utf8");
  writeFileSync(join(home, "adapter.mjs"), transformSync(source, { loader: "ts", format: "esm" }).code);
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project/a.txt"), "found by the framework\n");
  writeFileSync(
    join(home, "main.mjs"),
    `import { dialects, openEngine } from "polyfs";
const file = "./adapter.mjs";
const params = { path: "a.txt" };
const engine = openEngine({ roots: [{ path: "project", access: "read-only" }], state: "state" });
const dialect = await dialects.polyfs();
console.log(await ${call});
engine[Symbol.dispose]();
`,
  );
  const answer = run(process.execPath, ["main.mjs"], home);
  if (!answer.includes("found by the framework")) throw new Error(`the tool answered ${answer}`);
}

function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${status}\n${stderr.slice(-2000)}`);
  return stdout;
}
