// `npm start -- DIR` from a clone, as clients run it: it builds what is missing or stale, and its stdout is the
// protocol and nothing else.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, it } from "vitest";
import { repository, tree } from "./program.ts";

const hello = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
})}\n`;

/** A clone with its dependencies, but never built. */
function clone(): string {
  const root = tree();
  for (const name of [
    "src",
    "web",
    "tools",
    ".npmrc",
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.types.json",
  ]) {
    cpSync(join(repository, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(repository, "node_modules"), join(root, "node_modules"));
  return root;
}

function npmStart(cwd: string, args: readonly string[]) {
  // As a user's shell would: without the settings of the npm that runs these tests.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD)/i.test(name)),
  );
  return spawnSync("npm", ["start", "--", ...args], { cwd, env, input: hello, encoding: "utf8" });
}

it("npm start serves a client of the SDK", async () => {
  const directory = tree();
  writeFileSync(join(directory, "note.txt"), "hello\n");
  const client = new Client({ name: "test", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: "npm",
      args: ["start", "--", "--dialect", "fs", directory],
      cwd: repository,
    }),
  );
  const { tools } = await client.listTools();
  expect(tools.map(tool => tool.name)).toContain("fs.read_file");
  await client.close();
});

it("npm start in a clone that was never built builds first, and again when a source changes", () => {
  const root = clone();
  mkdirSync(join(root, "some/where/served"), { recursive: true });
  const version = () => {
    // From a folder of the clone: directories are relative to the user's working directory.
    const { status, stdout, stderr } = npmStart(join(root, "some/where"), [
      "--dialect=fs",
      "--log-level=info",
      "served",
    ]);
    expect(stderr).toContain(`serving ${root}/some/where/served`);
    expect(status).toBe(0);
    const lines = stdout.split("\n").filter(Boolean);
    expect(lines).toHaveLength(1);
    return JSON.parse(lines[0] ?? "").result.serverInfo.version;
  };
  const source = join(root, "src/version.ts");
  expect(readFileSync(source, "utf8")).toContain(`"${version()}"`);
  writeFileSync(source, '// A later version.\n\nexport const version = "77.0.0";\n');
  expect(version()).toBe("77.0.0");
});

it("npm start reports mistakes on stderr, and exits with the program's code", () => {
  const { status, stdout, stderr } = npmStart(repository, ["--dialect", "fs", "/no/such/directory"]);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr).toBe("polyfs: no such directory: /no/such/directory\n");
});
