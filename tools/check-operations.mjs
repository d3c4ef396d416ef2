// Runs what packaging/ has for operators, as far as this machine can: the units are verified, rated, and their command
// is started by systemd-socket-activate; nginx and Caddy are started in front of a real server; the containers'
// commands are started; every figure that the dashboard and the alerts name must exist, and every one that exists must
// be in the guide. What cannot be run here is said.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { parse, parseAllDocuments } from "yaml";
import { build } from "./build.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packaging = join(root, "packaging");
const program = join(root, "dist/polyfs.cjs");
const scratch = mkdtempSync(join(tmpdir(), "polyfs-operations-"));
const nobody = 65_534;
/** The worst rating of the unit that is accepted. */
const worstExposure = 1.0;
const children = new Set();
let failed = 0;

process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));

await build();
prepare();
await check("units: verified and rated", units);
await check("units: the socket is handed over", activation);
await check("nginx in front", nginx);
await check("Caddy in front", caddy);
await check("compose: its command", compose);
await check("Kubernetes: its command", kubernetes);
await check("figures: dashboard, alerts, guide", figures);
await check("the guide's commands", guideCommands);
process.exit(failed === 0 ? 0 : 1);

async function check(name, run) {
  try {
    const said = await run();
    console.log(`${said === undefined ? "ok" : "not run"}  ${name}${said === undefined ? "" : `: ${said}`}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.stack ?? error}`);
  }
}

/** Projects, a token, a certificate: what the guide makes. */
function prepare() {
  chmodSync(scratch, 0o755);
  for (const name of ["projects", "state", "etc"]) {
    mkdirSync(join(scratch, name));
    if (process.getuid() === 0) chownSync(join(scratch, name), nobody, nobody);
  }
  writeFileSync(join(scratch, "projects/a.txt"), "served\n");
  const tokens = join(scratch, "etc/tokens.json");
  const token = run(process.execPath, [program, "token", "add", "ann", "--tokens", tokens]).trim();
  writeFileSync(join(scratch, "token"), token);
  const [key, cert] = [join(scratch, "etc/key.pem"), join(scratch, "etc/cert.pem")];
  const subject = [
    "-subj",
    "/CN=files.example.org",
    "-addext",
    "subjectAltName=DNS:files.example.org,DNS:localhost",
  ];
  run("openssl", [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-keyout",
    key,
    "-out",
    cert,
    ...subject,
  ]);
  for (const file of [tokens, key, cert]) {
    chmodSync(file, 0o600);
    if (process.getuid() === 0) chownSync(file, nobody, nobody);
  }
}

function units() {
  if (!has("systemd-analyze")) return "there is no systemd-analyze here";
  const folder = join(scratch, "units");
  mkdirSync(folder);
  for (const name of ["polyfs.service", "polyfs.socket"]) {
    const text = readFileSync(join(packaging, "systemd", name), "utf8");
    // Nothing is installed here; another program replaces ours.
    writeFileSync(join(folder, name), text.replace("/usr/local/bin/polyfs", process.execPath));
  }
  const verified = spawnSync(
    "systemd-analyze",
    ["verify", join(folder, "polyfs.service"), join(folder, "polyfs.socket")],
    { encoding: "utf8" },
  );
  const complaints = verified.stderr.split("\n").filter(line => /polyfs\.(service|socket)/.test(line));
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
  const rated = run("systemd-analyze", [
    "security",
    "--offline=true",
    "--no-pager",
    join(folder, "polyfs.service"),
  ]);
  const exposure = Number(/exposure level for polyfs\.service: ([\d.]+)/.exec(rated)?.[1]);
  if (!(exposure <= worstExposure)) throw new Error(`the exposure is ${exposure}, over ${worstExposure}`);
  const claimed = readFileSync(join(packaging, "systemd/polyfs.service"), "utf8").match(
    /rates its exposure ([\d.]+)/,
  )?.[1];
  if (Number(claimed) !== exposure) throw new Error(`the unit says ${claimed}, it is ${exposure}`);
}

async function activation() {
  if (!has("systemd-socket-activate")) return "there is no systemd-socket-activate here";
  const unit = readFileSync(join(packaging, "systemd/polyfs.service"), "utf8");
  const [, line = ""] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const [, ...args] = placed(line).split(" ");
  const [port, metrics] = [await freePort(), await freePort()];
  const given = args.map(arg => (arg === "127.0.0.1:9464" ? `127.0.0.1:${metrics}` : arg));
  start("systemd-socket-activate", ["-l", `127.0.0.1:${port}`, process.execPath, program, ...given], {
    asNobody: true,
  });
  await callOver(`https://localhost:${port}/mcp`);
  await answers(`http://127.0.0.1:${metrics}/readyz`);
  if (!readFileSync(join(scratch, "state/audit.log"), "utf8").includes('"tool":"read_file"'))
    throw new Error("no line in the audit");
}

async function behind(start) {
  const [port, outside] = [await freePort(), await freePort()];
  const tokens = join(scratch, "etc/tokens.json");
  startServer([
    "--http",
    `127.0.0.1:${port}`,
    "--tokens",
    tokens,
    "--oauth-issuer",
    "https://issuer.invalid",
    "--oauth-audience",
    `https://localhost:${outside}/mcp`,
    "--allow-host",
    "files.example.org,localhost",
    join(scratch, "projects"),
  ]);
  await answers(`http://127.0.0.1:${port}/readyz`);
  start(port, outside);
  await callOver(`https://localhost:${outside}/mcp`);
  const { status } = await fetchInsecure(`https://localhost:${outside}/metrics`);
  if (status !== 404) throw new Error(`/metrics can be reached from outside: ${status}`);
  await discovered(`https://localhost:${outside}/mcp`);
  const page = await fetchInsecure(`https://localhost:${outside}/review/`);
  if (!(await page.text()).includes("Sign in")) throw new Error(`the review page: ${page.status}`);
}

/** The 401 response names the OAuth metadata, and the proxy serves it at that address. */
async function discovered(url) {
  const refused = await fetchInsecure(url, { method: "POST" });
  const [, place] = /resource_metadata="(.*?)"/.exec(refused.headers.get("www-authenticate")) ?? [];
  if (place === undefined) throw new Error(`the refusal names no metadata: ${refused.status}`);
  const metadata = await fetchInsecure(place);
  if (metadata.status !== 200) throw new Error(`${place} answers ${metadata.status}`);
}

function nginx() {
  if (!has("nginx")) return "there is no nginx here";
  return behind((port, outside) => {
    const text = readFileSync(join(packaging, "nginx/polyfs.conf"), "utf8")
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
      .replace("listen 443 ssl;", `listen 127.0.0.1:${outside} ssl;`)
      .replace("    listen [::]:443 ssl;\n", "")
      .replaceAll("/etc/polyfs/", `${join(scratch, "etc")}/`);
    const config = join(scratch, "nginx.conf");
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      name => `${name}_temp_path ${scratch}/${name};`,
    );
    writeFileSync(
      config,
      `daemon off; pid ${scratch}/nginx.pid; error_log stderr; events {}\nhttp { access_log off; ${paths.join(" ")}\n${text}}\n`,
    );
    run("nginx", ["-t", "-c", config]);
    start("nginx", ["-c", config]);
  });
}

function caddy() {
  if (!has("caddy")) return "there is no caddy here";
  return behind((port, outside) => {
    const etc = join(scratch, "etc");
    const text = readFileSync(join(packaging, "caddy/Caddyfile"), "utf8")
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
      .replace("files.example.org {", `https://localhost:${outside} {\n\ttls ${etc}/cert.pem ${etc}/key.pem`);
    const config = join(scratch, "Caddyfile");
    writeFileSync(config, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`);
    start("caddy", ["run", "--adapter", "caddyfile", "--config", config], {
      env: { HOME: scratch, XDG_DATA_HOME: scratch, XDG_CONFIG_HOME: scratch },
    });
  });
}

async function compose() {
  const { services } = parse(readFileSync(join(packaging, "compose/compose.yaml"), "utf8"));
  const { command, environment, read_only, cap_drop } = services.polyfs;
  if (read_only !== true || cap_drop[0] !== "ALL") throw new Error("the container is not hardened");
  const port = await containerised(command, {
    POLYFS_ALLOW_HOST: environment.POLYFS_ALLOW_HOST.replace(/^\$\{.*:-(.*)\}$/, "$1"),
  });
  await callOver(`https://localhost:${port}/mcp`);
}

async function kubernetes() {
  const documents = parseAllDocuments(readFileSync(join(packaging, "kubernetes/polyfs.yaml"), "utf8"));
  const broken = documents.flatMap(({ errors }) => errors);
  if (broken.length > 0) throw broken[0];
  const deployment = documents.map(one => one.toJS()).find(({ kind }) => kind === "Deployment");
  const { spec } = deployment.spec.template;
  const [container] = spec.containers;
  const mounts = container.volumeMounts.map(({ name }) => name).sort();
  if (`${mounts}` !== `${spec.volumes.map(({ name }) => name).sort()}`)
    throw new Error("mounts and volumes differ");
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  const port = await containerised(container.args, env);
  await callOver(`http://localhost:${port}/mcp`, "files.example.org");
}

/** Starts the arguments of a container with other directories and ports; returns the port. */
async function containerised(args, env) {
  const ports = new Map();
  const given = [];
  for (const arg of args) {
    const [, number] = /^0\.0\.0\.0:(\d+)$/.exec(arg) ?? [];
    if (number !== undefined) ports.set(number, await freePort());
    given.push(number === undefined ? placed(arg) : `127.0.0.1:${ports.get(number)}`);
  }
  startServer(given, env);
  const [port, metrics] = ports.values();
  await answers(`http://127.0.0.1:${metrics}/readyz`);
  return port;
}

async function figures() {
  const [port, metrics] = [await freePort(), await freePort()];
  const args = ["--http", String(port), "--metrics-listen", String(metrics), join(scratch, "projects")];
  startServer(args);
  await answers(`http://127.0.0.1:${metrics}/readyz`);
  await callOver(`http://localhost:${port}/mcp`);
  await (await fetch(`http://localhost:${port}/nothing`)).text();
  const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
  const family = name => name.replace(/_(bucket|sum|count)$/, "");
  const namesIn = file =>
    [...readFileSync(file, "utf8").matchAll(/\b(?:polyfs|process)_[a-z_]+\b/g)].map(([name]) => name);
  const guide = namesIn(join(root, "docs/guides/operate.md"));
  for (const file of ["grafana/polyfs.json", "prometheus/alerts.yaml"]) {
    for (const name of namesIn(join(packaging, file))) {
      if (!exposed.has(name) && !exposed.has(family(name))) throw new Error(`${file}: there is no ${name}`);
    }
  }
  for (const { alert, expr } of parse(readFileSync(join(packaging, "prometheus/alerts.yaml"), "utf8"))
    .groups[0].rules) {
    if (!guide.join().includes(/(polyfs|process)_[a-z_]+/.exec(expr)?.[0] ?? "") && alert !== "PolyfsDown")
      throw new Error(`${alert} is not explained`);
  }
  for (const name of exposed)
    if (!guide.includes(name)) throw new Error(`the guide does not explain ${name}`);
  for (const name of guide) {
    if (!exposed.has(family(name)) && !exposed.has(name))
      throw new Error(`the guide explains ${name}, which is not there`);
  }
}

/** Those that are marked, as they are written, with the places of this check for those of the system. */
function guideCommands() {
  const bin = join(scratch, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "polyfs"), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, {
    mode: 0o755,
  });
  rmSync(join(scratch, "etc"), { recursive: true });
  mkdirSync(join(scratch, "etc"));
  const guide = readFileSync(join(root, "docs/guides/operate.md"), "utf8");
  const blocks = [...guide.matchAll(/<!-- check: run -->\n```sh\n(.*?)```/gs)].map(
    ([, commands]) => commands,
  );
  if (blocks.length < 4) throw new Error("the guide has lost its marks");
  run("env", [`PATH=${bin}:${process.env.PATH}`, "sh", "-eux", "-c", placedAll(blocks.join("\n"))]);
}

function placedAll(text) {
  return text
    .split("\n")
    .map(line => line.split(" ").map(placed).join(" "))
    .join("\n");
}

/** Both kinds of client: a handshake, the tools, a call. */
async function callOver(url, host) {
  const token = readFileSync(join(scratch, "token"), "utf8");
  const headers = { authorization: `Bearer ${token}`, ...(host && { host }) };
  let problem;
  for (let tries = 0; tries < 100; tries++) {
    try {
      for (const mode of ["auto", "legacy"]) {
        const client = new Client({ name: "check", version: "1" }, { versionNegotiation: { mode } });
        await client.connect(
          new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: fetchInsecure }),
        );
        const { content } = await client.callTool({ name: "read_file", arguments: { path: "a.txt" } });
        if (!JSON.stringify(content).includes("served"))
          throw new Error(`an odd answer: ${JSON.stringify(content)}`);
        await client.close();
      }
      return;
    } catch (error) {
      problem = error;
      await sleep(200);
    }
  }
  throw problem;
}

/** The certificate is our own. */
async function fetchInsecure(url, options) {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  return await fetch(url, options);
}

async function answers(url) {
  let problem;
  for (let tries = 0; tries < 150; tries++) {
    try {
      const response = await fetch(url);
      if (response.ok) return;
    } catch (error) {
      problem = error;
    }
    await sleep(200);
  }
  throw new Error(`${url} does not answer: ${problem}`);
}

/** The paths of an installed service, put into the scratch directory. */
function placed(text) {
  const etc = join(scratch, "etc");
  return text
    .replaceAll(/\$\{CREDENTIALS_DIRECTORY\}/g, etc)
    .replaceAll("/etc/polyfs", etc)
    .replace("/run/secrets/tokens", join(etc, "tokens.json"))
    .replace("/run/secrets/cert", join(etc, "cert.pem"))
    .replace("/run/secrets/key", join(etc, "key.pem"))
    .replace("/var/lib/polyfs/state", join(scratch, "state/polyfs"))
    .replace(/\/var\/log\/polyfs|\/state(?=\/audit)/, join(scratch, "state"))
    .replace(/\/srv\/projects|^\/workspace$/, join(scratch, "projects"));
}

function startServer(args, env = {}) {
  start(process.execPath, [program, "--state-dir", join(scratch, "state/polyfs"), ...args], {
    env,
    asNobody: true,
  });
}

function start(command, args, { env = {}, asNobody = false } = {}) {
  const user = asNobody && process.getuid() === 0 ? { uid: nobody, gid: nobody } : {};
  const clean = { ...process.env, POLYFS_CODE_CACHE: "off", ...env };
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], env: clean, ...user });
  let said = "";
  child.stderr.on("data", chunk => {
    said += chunk;
  });
  child.on("exit", code => {
    if (code !== 0 && code !== null) console.log(`${command} ended with ${code}: ${said.slice(-500)}`);
    children.delete(child);
  });
  children.add(child);
}

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${error ?? stderr}`);
  return stdout;
}

function has(command) {
  return spawnSync("sh", ["-c", `command -v ${command}`]).status === 0;
}

function freePort() {
  return new Promise(resolve => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
