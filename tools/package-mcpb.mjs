// Builds polyfs-VERSION.mcpb, the bundle that Claude Desktop and others install by a double click: the program with
// its dependencies and the manifest. Ripgrep is in it for the platforms whose packages are installed here. Then it
// unpacks it again and talks to the server in it, as a client would.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { install } from "./install.mjs";
import { noticesName } from "./notices.mjs";
import { zip } from "./zip.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
install();
await build();
const metadata = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const manifest = JSON.parse(readFileSync(join(root, "packaging/mcpb.json"), "utf8"));
const ripgreps = readdirSync(join(root, "node_modules/@vscode")).filter(name => name.startsWith("ripgrep-"));
const platforms = [...new Set(ripgreps.map(name => name.split("-")[1]))];
const { name, version, license, type, dependencies } = metadata;

const files = [
  inMemory("manifest.json", { ...manifest, compatibility: { ...manifest.compatibility, platforms } }),
  inMemory("server/package.json", { name, version, license, type, dependencies }),
  ...["LICENSE", "README.md", "SECURITY.md"].map(file => onDisk(file, file)),
  onDisk(`dist/${noticesName}`, noticesName),
  ...below("dist")
    .filter(file => /^dist\/[^/]*\.cjs$/.test(file))
    .map(file => onDisk(file, `server/${file}`)),
  ...["ripgrep", ...ripgreps]
    .flatMap(one => below(`node_modules/@vscode/${one}`))
    .map(file => onDisk(file, `server/${file}`)),
];
const bundle = join(root, `polyfs-${version}.mcpb`);
const bytes = zip(files);
writeFileSync(bundle, bytes);
console.log(
  `${relative(root, bundle)}: ${bytes.length} bytes, ${files.length} files, for ${platforms.join(", ")}`,
);
check();

function inMemory(path, content) {
  return { name: path, bytes: Buffer.from(`${JSON.stringify(content, undefined, 2)}\n`) };
}

function onDisk(file, path) {
  const executable = (statSync(join(root, file)).mode & 0o100) !== 0;
  return { name: path, bytes: readFileSync(join(root, file)), executable };
}

function below(directory) {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(root, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

function check() {
  const scratch = mkdtempSync(join(tmpdir(), "polyfs-mcpb-"));
  try {
    const unpacked = spawnSync("unzip", ["-q", bundle, "-d", join(scratch, "bundle")], { encoding: "utf8" });
    if (unpacked.error?.code === "ENOENT") return console.log("not tried: there is no unzip here");
    if (unpacked.status !== 0) throw new Error(`the bundle cannot be unpacked: ${unpacked.stderr}`);
    mkdirSync(join(scratch, "project"));
    writeFileSync(join(scratch, "project/hello.txt"), "found by ripgrep\n");
    const blanks = {
      __dirname: join(scratch, "bundle"),
      "user_config.allowed_directories": join(scratch, "project"),
      "user_config.read_only": "true",
      "user_config.dialect": "polyfs",
    };
    const filled = text => text.replace(/\$\{(.*?)\}/g, (_, blank) => blanks[blank]);
    const { command, args, env } = manifest.server.mcp_config;
    const requests = [
      request(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "check", version: "1" },
      }),
      request(2, "tools/list", {}),
      request(3, "tools/call", { name: "search_text", arguments: { pattern: "by ripgrep" } }),
    ];
    const { stdout, stderr } = spawnSync(command, args.map(filled), {
      cwd: scratch,
      input: requests.join(""),
      encoding: "utf8",
      env: {
        PATH: process.env.PATH,
        HOME: scratch,
        ...Object.fromEntries(Object.entries(env).map(([key, value]) => [key, filled(value)])),
      },
    });
    const answers = stdout
      .split("\n")
      .filter(Boolean)
      .map(line => JSON.parse(line));
    const of = id => answers.find(answer => answer.id === id)?.result;
    const names = of(2)?.tools.map(tool => tool.name) ?? [];
    if (!of(3)?.content[0].text.includes("hello.txt") || names.includes("write_file"))
      throw new Error(`the bundle does not work: ${stdout}${stderr}`);
    console.log("the server in it starts, searches, and is read-only when asked to be");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function request(id, method, params) {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}
