// A socket that systemd opens and hands over: it is served, only with tokens, and no command inherits it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { polyfs, repository } from "../cli/program.ts";
import { tree } from "./fixture.ts";
import { modern } from "./wire.ts";

/** Starts polyfs as systemd would, and returns its first output. */
async function activated(server: Server, ...args: readonly string[]): Promise<string> {
  return await activatedWith({}, server, ...args);
}

async function activatedWith(
  environment: Readonly<Record<string, string>>,
  server: Server,
  ...args: readonly string[]
): Promise<string> {
  const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
  const script = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"';
  const program = [process.execPath, join(repository, "dist/polyfs.cjs"), "--http", "systemd", ...args];
  const child = spawn("sh", ["-c", script, "sh", ...program], {
    stdio: ["ignore", "ignore", "pipe", fd],
    env: { ...process.env, POLYFS_STATE_DIR: tree(), ...environment },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = await once(child.stderr?.setEncoding("utf8") ?? child, "data");
  return String(said);
}

async function listening(host = "127.0.0.1"): Promise<Server> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return server;
}

it.runIf(process.platform !== "win32")(
  "serves the socket that systemd passes, to callers with a token",
  async () => {
    const server = await listening();
    const file = join(tree(), "tokens.json");
    const token = polyfs([
      "token",
      "add",
      "ann",
      "--tokens",
      file,
      "--effects",
      "reads,writes,runs",
    ]).stdout.trim();
    const root = tree({ "a.txt": "served\n" });
    const said = await activated(
      server,
      "--tokens",
      file,
      "--allow-run=unsandboxed",
      "--policy",
      "none",
      root,
    );
    const [url = ""] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said) ?? [said];
    const { port } = server.address() as { port: number };
    expect(url).toBe(`http://127.0.0.1:${port}/mcp`);
    server.close(); // from here on only the program listens
    const call = async (name: string, args: unknown) =>
      (await modern(url, "tools/call", { name, arguments: args }, { authorization: `Bearer ${token}` })).body;
    expect(await call("read_file", { path: "a.txt" })).toContain("served");
    if (process.platform === "linux")
      expect(
        await call("run_command", {
          command: "ls -l /proc/self/fd | awk '$9 > 2' | grep socket: || echo none",
        }),
      ).toContain("none");
  },
);

it.runIf(process.platform !== "win32")(
  "serves a socket for all addresses where a sandbox hides which addresses the machine has",
  async () => {
    const server = await listening("0.0.0.0");
    const { port } = server.address() as { port: number };
    const file = join(tree(), "tokens.json");
    polyfs(["token", "add", "ann", "--tokens", file]);
    const sandbox = join(
      tree({ "sandbox.cjs": 'require("node:os").networkInterfaces = () => { throw new Error("97"); };' }),
      "sandbox.cjs",
    );
    const options = ["--tokens", file, "--allow-host", "files.example.org", tree()];
    const said = await activatedWith({ NODE_OPTIONS: `--require=${sandbox}` }, server, ...options);
    expect(said).toContain(`:${port}/mcp`);
    server.close();
    const status = (host: string) =>
      new Promise((resolve, reject) =>
        get({ port, path: "/mcp", headers: { host } }, ({ statusCode }) => resolve(statusCode)).once(
          "error",
          reject,
        ),
      );
    expect(await status("files.example.org")).toBe(401);
    expect(await status("localhost")).toBe(401);
    expect(await status("10.1.2.3")).toBe(403);
  },
);

it("without tokens, or without a socket, is refused", async () => {
  expect(await activated(await listening(), tree())).toContain("add --tokens FILE");
  const { code, stderr } = polyfs(["--http", "systemd", tree()], {
    env: { LISTEN_PID: "1", LISTEN_FDS: "1" },
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining("start the .socket unit")]);
});
