// What has to hold before a release: `npm run release:check`. docs/release.md explains each check. Nothing is published
// and no file of the repository is changed; the SBOM is left in .cache/release. Names as arguments choose some checks.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "./build.mjs";
import { install } from "./install.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
install();
await build({ types: true });
const chosen = process.argv.slice(2);
const metadata = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { version } = metadata;
const scratch = mkdtempSync(join(tmpdir(), "polyfs-release-"));
const kept = join(root, ".cache/release");
/** Licences that allow us to distribute the code. */
const allowed = new Set([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
]);
const mostGrowth = 1.1;
/** A call that reads one file. It needs no handshake. */
const readingCall = `${JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "read_file", arguments: { path: "note.txt" } },
})}\n`;
/** Something that this machine cannot do. */
class NotRun extends Error {}
let failed = 0;

try {
  mkdirSync(kept, { recursive: true });
  check("reproducible tarball", reproducible);
  check("size", size);
  check("no install scripts", installScripts);
  check("SBOM", sbom);
  check("licences", licences);
  check("API", () => tool("check-api.mjs"));
  check("changelog", changelog);
  check("server.json", registryEntry);
  check("MCPB bundle", () => tool("package-mcpb.mjs"));
  check("package", () => tool("check-package.mjs"));
  check("image", image);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(failed === 0 ? `\nall checks of ${version} passed` : `\n${failed} checks failed`);
process.exitCode = failed === 0 ? 0 : 1;

function check(name, action) {
  if (chosen.length > 0 && !chosen.includes(name)) return;
  try {
    console.log(`ok       ${name}: ${action()}`);
  } catch (error) {
    if (error instanceof NotRun) console.log(`not run  ${name}: ${error.message}`);
    else {
      failed++;
      console.log(`FAILED   ${name}: ${error.message}`);
    }
  }
}

/** Two copies of what git has, in directories whose names differ in length, each built and packed by itself. */
function reproducible() {
  const files = run("git", ["ls-files", "-z"], root)
    .split("\0")
    .filter(name => existsSync(join(root, name)));
  const tarballs = ["a", "another-directory"].map(name => {
    const copy = join(scratch, name);
    mkdirSync(copy);
    const list = join(scratch, `${name}.list`);
    writeFileSync(list, files.join("\0"));
    run("sh", ["-c", 'tar -C "$1" --null -T "$2" -cf - | tar -C "$3" -xf -', "sh", root, list, copy], root);
    // Links to the same files where the file system allows it.
    const link = spawnSync("cp", ["-al", join(root, "node_modules"), copy]);
    if (link.status !== 0) run("cp", ["-a", join(root, "node_modules"), copy], root);
    const [answer] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", scratch], copy));
    const bytes = readFileSync(join(scratch, answer.filename));
    return { bytes: bytes.length, sum: createHash("sha256").update(bytes).digest("hex") };
  });
  const [one, other] = tarballs;
  if (one.sum !== other.sum) throw new Error(`two builds differ: ${one.sum} and ${other.sum}`);
  return `two builds in two directories have the SHA-256 ${one.sum}`;
}

function size() {
  const args = ["pack", "--json", "--dry-run", "--ignore-scripts"];
  const [{ size, unpackedSize, entryCount }] = JSON.parse(run("npm", args, root));
  const table = readFileSync(join(root, "docs/release.md"), "utf8");
  const rows = [...table.matchAll(/^\| (\d[\w.-]*) \| ([\d,]+) \|/gm)];
  const [, last, bytes] = rows.at(-1) ?? stop("docs/release.md has no size to compare with");
  const before = Number(bytes.replaceAll(",", ""));
  if (size > before * mostGrowth) stop(`${size} bytes packed, ${last} had ${before}: more than 10 % larger`);
  return `${size} bytes packed, ${unpackedSize} unpacked, ${entryCount} files; ${last} had ${before} packed`;
}

function installScripts() {
  const scripts = ["preinstall", "install", "postinstall", "prepare"];
  const own = scripts.filter(name => name in metadata.scripts);
  if (own.length > 0) stop(`package.json has ${own.join(", ")}`);
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const production = Object.entries(packages).filter(([path, one]) => path !== "" && !one.dev);
  const bad = production.filter(([, one]) => one.hasInstallScript).map(([path]) => path);
  if (bad.length > 0) stop(`install scripts in ${bad.join(", ")}`);
  return `none in ${production.length} packages`;
}

/** npm knows what is installed with the package; what is bundled is in the notices. */
function sbom() {
  const bom = JSON.parse(run("npm", ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev"], root));
  if (bom.bomFormat !== "CycloneDX") stop("npm gave no CycloneDX document");
  const known = new Set(bom.components.map(({ name, version }) => `${name} ${version}`));
  for (const { name, version, license } of bundled()) {
    if (known.has(`${name} ${version}`)) continue;
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    bom.components.push({
      type: "library",
      "bom-ref": `${name}@${version}`,
      name,
      version,
      purl,
      licenses: [{ license: { id: license } }],
      properties: [{ name: "polyfs:bundled", value: "true" }],
    });
  }
  const file = join(kept, `polyfs-${version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`);
  return `CycloneDX ${bom.specVersion}, ${bom.components.length} components, in .cache/release`;
}

function licences() {
  const all = bundled();
  const bad = all.filter(({ license }) => !license.split(/ (?:AND|OR) /).every(one => allowed.has(one)));
  if (bad.length > 0) stop(bad.map(({ name, license }) => `${name} is under ${license}`).join(", "));
  return `${all.length} bundled packages, all under ${[...new Set(all.map(({ license }) => license))].sort().join(", ")}`;
}

/** By the heads of the notices, which the build makes from the bundler's own list. */
function bundled() {
  const text = readFileSync(join(root, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
  return [...text.matchAll(/^((?:@[\w.-]+\/)?[\w.-]+) (\d[^\s]*) \((.+)\)$/gm)].map(
    ([, name, version, license]) => ({ name, version, license: license.replace(/^\((.*)\)$/, "$1") }),
  );
}

function changelog() {
  const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  const [, heading, entries] = /^## (\S+).*\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(text) ?? stop("no section");
  if (heading !== "Unreleased" && heading !== version)
    stop(`the first section is ${heading}, neither Unreleased nor ${version}`);
  const count = entries.match(/^- /gm)?.length ?? 0;
  if (count === 0) stop(`${heading} has no entries`);
  return heading === version
    ? `${count} entries for ${version}`
    : `${count} entries under Unreleased, to be renamed to the version`;
}

function registryEntry() {
  const { name, version: own, packages } = JSON.parse(readFileSync(join(root, "server.json"), "utf8"));
  if (name !== metadata.mcpName) stop(`the name is ${name}, package.json has ${metadata.mcpName}`);
  for (const one of [own, ...packages.map(entry => entry.version)])
    if (one !== version) stop(`it names ${one}, package.json ${version}`);
  tool("generate.mjs", "--check");
  return "current";
}

function image() {
  const builder = ["docker", "podman", "buildah"].find(name => spawnSync(name, ["--version"]).status === 0);
  if (builder === undefined) throw new NotRun("there is no docker, podman or buildah here");
  const [, base] = /^FROM (\S+)/m.exec(readFileSync(join(root, "Dockerfile"), "utf8"));
  const isHere = spawnSync(builder, ["inspect", "--type", "image", base]).status === 0;
  if (!isHere && spawnSync(builder, ["pull", base], { timeout: 60_000 }).status !== 0)
    throw new NotRun(
      `${builder} cannot pull ${base}; tools/check-image.mjs starts the package as the image does`,
    );
  const command = builder === "buildah" ? ["bud"] : ["build"];
  run(builder, [...command, "--tag", "polyfs-release-check", "."], root);
  if (builder === "buildah") return "built";
  const files = join(scratch, "workspace");
  mkdirSync(files);
  writeFileSync(join(files, "note.txt"), "from the host\n");
  const confined = [
    "--read-only",
    "--tmpfs",
    "/tmp",
    "--network",
    "none",
    "--volume",
    `${files}:/workspace:ro`,
  ];
  const answer = run(builder, ["run", "--rm", "-i", ...confined, "polyfs-release-check"], root, readingCall);
  if (!answer.includes("from the host")) stop(`the image answered: ${answer.slice(0, 500)}`);
  return `built with ${builder}; a container without network, on a read-only system, read a file`;
}

function tool(name, ...args) {
  const said = run(process.execPath, [join(root, "tools", name), ...args], root);
  return said.trim().split("\n").at(-1) ?? "";
}

function run(command, args, cwd, input) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0)
    stop(
      `${command} ${args.slice(0, 3).join(" ")}: ${error?.message ?? `${stdout.slice(-500)}${stderr.slice(-1500)}`}`,
    );
  return stdout;
}

function stop(message) {
  throw new Error(message);
}
