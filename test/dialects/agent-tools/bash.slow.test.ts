// `bash` of the `agent-tools` contract, sentence by sentence.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../../../src/contract/call.ts";
import { Session } from "../../../src/contract/session.ts";
import { defaultSettings } from "../../../src/contract/settings.ts";
import { agentTools } from "../../../src/dialects/agent-tools/index.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;

beforeAll(async () => {
  fixture = new Fixture({ "file.txt": "x\n" });
  mkdirSync(fixture.path("sub"));
  symlinkSync("/etc", fixture.path("out"));
  server = await fixture.serve({ env: { SECRET_TOKEN: "hush" } });
});
afterAll(() => fixture[Symbol.asyncDispose]());

interface Ran {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly signal: string | null;
  readonly timed_out: boolean;
}

async function ran(command: string, more: object = {}, by = server): Promise<Ran> {
  return JSON.parse(await by.says("bash", { command, ...more }));
}

/** Whether a process runs. One that has ended and waits to be fetched by its parent does not. */
function lives(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

const soon = () => new Promise(resolve => setTimeout(resolve, 5));

describe("bash", () => {
  it("answers with compact JSON: exit code, output, signal", async () => {
    expect(await server.says("bash", { command: "echo out; echo err >&2" })).toBe(
      '{"exit_code":0,"stdout":"out\\n","stderr":"err\\n","signal":null,"timed_out":false}',
    );
  });

  it("treats a non-zero exit code as a normal result", async () => {
    expect(await ran("exit 7")).toMatchObject({ exit_code: 7, signal: null });
    expect(await ran("no-such-program-at-all")).toMatchObject({ exit_code: 127 });
  });

  it("reports a signal by its name and as 128+n", async () => {
    expect(await ran("kill -TERM $$")).toMatchObject({ exit_code: 143, signal: "SIGTERM", timed_out: false });
    expect(await ran("kill -9 $$")).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
  });

  it("runs by sh -c in the workspace, or where cwd says", async () => {
    expect(await ran("pwd; echo $0")).toMatchObject({ stdout: `${fixture.root}\n/bin/sh\n` });
    expect(await ran("pwd", { cwd: "sub" })).toMatchObject({ stdout: `${fixture.path("sub")}\n` });
    expect(await ran("pwd", { cwd: fixture.path("sub") })).toMatchObject({
      stdout: `${fixture.path("sub")}\n`,
    });
  });

  it("refuses a bad cwd and a bad command", async () => {
    const refused = (cwd: string) => server.refuses("bash", { command: "pwd", cwd });
    expect(await refused("nope")).toMatchObject({ error: "not_found" });
    expect(await refused("file.txt")).toEqual({
      error: "not_a_file",
      message: "Not a directory: file.txt",
    });
    for (const cwd of ["..", "/", "out"]) expect(await refused(cwd)).toMatchObject({ error: "path_escape" });
    expect(await server.refuses("bash", { command: "echo \0" })).toMatchObject({ error: "invalid_input" });
    expect(await server.refuses("bash", { command: " " })).toMatchObject({ error: "invalid_input" });
    expect(await server.refuses("bash", { command: "true", timeout_ms: 0 })).toMatchObject({
      error: "invalid_input",
    });
  });

  it("gives an empty input, and passes on no secrets", async () => {
    expect(await ran("cat; read x || echo closed")).toMatchObject({ stdout: "closed\n" });
    expect((await ran("env")).stdout).not.toContain("hush");
  });

  it("does not wait for what runs in the background, even if it keeps the pipe open", async () => {
    const { stdout } = await ran("sleep 300 & echo $!");
    const pid = Number(stdout);
    expect(lives(pid)).toBe(true);
    process.kill(pid);
    const { stdout: other } = await ran("sleep 300 >/dev/null 2>&1 & echo $!");
    expect(lives(Number(other))).toBe(true);
    process.kill(Number(other));
  });

  it("kills the whole process group at the timeout, and returns the output so far", async () => {
    const envelope = await server.refuses("bash", {
      command: "echo begun; echo warned >&2; (sleep 300; touch late) & echo $! > pid; sleep 300",
      timeout_ms: 3000,
    });
    expect(envelope).toEqual({
      error: "timeout",
      message: "Command timed out after 3000 ms and was killed",
      timeout_ms: 3000,
      stdout: "begun\n",
      stderr: "warned\n",
    });
    expect(lives(Number(fixture.read("pid")))).toBe(false);
  });

  it("clamps the time to the largest that is allowed, and has a default", async () => {
    const hurried = await fixture.serve({ env: { BASH_TIMEOUT_MS: "200", BASH_TIMEOUT_MAX_MS: "400" } });
    expect(await hurried.refuses("bash", { command: "sleep 60" })).toMatchObject({ timeout_ms: 200 });
    expect(await hurried.refuses("bash", { command: "sleep 60", timeout_ms: 60_000 })).toMatchObject({
      timeout_ms: 400,
    });
  });

  it("gives up with output_limit where a stream passes 8 MiB, and kills the command", async () => {
    const envelope = await server.refuses("bash", { command: "echo $$ > pid; yes" });
    expect(envelope).toMatchObject({ error: "output_limit", limit: 8 * 1024 * 1024, stderr: "" });
    expect(envelope.stdout).toMatch(/^y\ny\n/);
    expect(lives(Number(fixture.read("pid")))).toBe(false);
  });

  it("answers a command that was cancelled with aborted", async () => {
    await using other = new Fixture();
    using engine = openEngine({ roots: [{ path: other.root, access: "read-write" }] });
    const controller = new AbortController();
    const outcome = call(
      agentTools,
      "bash",
      { command: "echo $$ > pid; sleep 300" },
      {
        engine,
        workspace: engine.workspace,
        settings: defaultSettings,
        session: new Session(),
        revision: "2025-11-25",
        signal: controller.signal,
        progress: () => undefined,
      },
    );
    while (!other.has("pid") || other.read("pid") === "") await soon();
    controller.abort();
    expect(await outcome).toEqual({
      content: [{ type: "text", text: '{"error":"aborted","message":"The call was cancelled"}' }],
      isError: true,
    });
    expect(lives(Number(other.read("pid")))).toBe(false);
  });

  it("kills the command when the client cancels the request", async () => {
    const { wire } = server;
    const params = { name: "bash", arguments: { command: "echo $$ > live; sleep 300" } };
    wire.send({ jsonrpc: "2.0", id: "cancelled", method: "tools/call", params });
    while (!fixture.has("live") || fixture.read("live") === "") await soon();
    wire.notify("notifications/cancelled", { requestId: "cancelled" });
    const pid = Number(fixture.read("live"));
    while (lives(pid)) await soon();
    expect(await ran("echo alive")).toMatchObject({ stdout: "alive\n" });
  });
});

describe("output that is too long", () => {
  const folder = ".clarvis";

  it("is cut, and the whole of it is in a file that the cut text names", async () => {
    await using other = new Fixture();
    const limited = await other.serve({ env: { MAX_OUTPUT_BYTES: "1000" } });
    const { stdout, stderr } = await ran("seq 1 1000; echo short >&2", {}, limited);
    expect(stderr).toBe("short\n");
    const [, file = "", token] =
      /\n\[\.\.\. output truncated: 994 of 3893 bytes shown; full output in (\.clarvis\/bash-([0-9a-f]+)\.stdout\.log) \.\.\.\]$/.exec(
        stdout,
      ) ?? [];
    expect(other.read(file)).toBe(execFileSync("seq", ["1", "1000"], { encoding: "utf8" }));
    expect(stdout.startsWith(other.read(file).slice(0, 994))).toBe(true);
    expect(readdirSync(other.path(folder)).sort()).toEqual([".gitignore", `bash-${token}.stdout.log`]);
    expect(other.read(`${folder}/.gitignore`)).toBe("*\n");
    expect(await limited.says("grep", { pattern: "^999$" })).toBe("(no matches)");
  });

  it("shares the room between the streams, and spills each by itself, byte for byte", async () => {
    await using other = new Fixture();
    const limited = await other.serve({ env: { MAX_OUTPUT_BYTES: "1001" } });
    const { stdout, stderr } = await ran(
      "i=0; while [ $i -lt 400 ]; do printf 'ä'; printf '\\377b' >&2; i=$((i+1)); done",
      {},
      limited,
    );
    expect(stdout).toMatch(
      /^ä{250}\n\[\.\.\. output truncated: 500 of 800 bytes shown; full output in .*stdout\.log \.\.\.\]$/,
    );
    const [, file = ""] = /full output in (\S+)/.exec(stderr) ?? [];
    expect(file).toMatch(/\.stderr\.log$/);
    expect(other.bytes(file)).toEqual(Buffer.from("\xffb".repeat(400), "latin1"));
    const again = await ran("seq 1 1000", {}, limited);
    expect(again.stdout).toContain("full output in");
    expect(other.read(`${folder}/.gitignore`)).toBe("*\n");
  });

  it("loses no result where the file cannot be written", async () => {
    await using other = new Fixture();
    symlinkSync("/tmp", other.path(folder));
    const limited = await other.serve({ env: { MAX_OUTPUT_BYTES: "1000" } });
    const { exit_code, stdout } = await ran("seq 1 1000; exit 3", {}, limited);
    expect(exit_code).toBe(3);
    expect(stdout).toMatch(/^1\n2\n/);
    expect(stdout).toContain("could not be saved: Path escapes the workspace root: .clarvis/");
  });
});

const hasSandbox = spawnSync("/usr/bin/bwrap", ["--version"]).status === 0;
describe.runIf(hasSandbox)("in the sandbox that --allow-run asks for", () => {
  it("a command writes only in the workspace, and output is still spilled", async () => {
    await using other = new Fixture();
    const confined = await other.serve({ args: ["--allow-run"], env: { MAX_OUTPUT_BYTES: "1000" } });
    await ran(`echo in > in.txt; echo out > ${other.base}/out.txt`, {}, confined);
    expect(other.read("in.txt")).toBe("in\n");
    expect(other.has("../out.txt")).toBe(false);
    expect((await ran("seq 1 1000", {}, confined)).stdout).toContain("full output in .clarvis/");
    expect(await ran("kill -9 $$", {}, confined)).toMatchObject({ exit_code: 137, signal: "SIGKILL" });
  });
});
