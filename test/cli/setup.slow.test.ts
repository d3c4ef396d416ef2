// `polyfs setup` in a home directory, as a process: what it finds, shows, writes, and leaves alone.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { clientsOn } from "../../src/cli/setup/clients.ts";
import { type Ending, polyfs, repository, tree } from "./program.ts";

const program = join(repository, "dist/polyfs.cjs");

/** A home with a project in it. */
function home(): {
  root: string;
  project: string;
  run: (...args: string[]) => Ending;
  file: (client: string) => string;
} {
  const base = tree("home/project", "state");
  const root = join(base, "home");
  const environment = {
    HOME: root,
    XDG_CONFIG_HOME: "",
    CODEX_HOME: "",
    CLAUDE_CONFIG_DIR: "",
    GEMINI_CLI_HOME: "",
    POLYFS_STATE_DIR: join(base, "state"),
  };
  const clients = clientsOn({ platform: process.platform, environment, home: root });
  return {
    root,
    project: join(root, "project"),
    run: (...args) => polyfs(args, { cwd: join(root, "project"), env: environment }),
    file: client => clients[client]?.file ?? "",
  };
}

function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const clients = clientsOn({ platform: process.platform, environment: {}, home: "/home/me" });

describe("polyfs setup", () => {
  it.each(Object.keys(clients))("prints the configuration entry of %s, and writes nothing", client => {
    const { root, project, run } = home();
    const { code, stdout, stderr } = run("setup", "--print", client);
    expect(code).toBe(0);
    expect(stdout).toContain(program);
    expect(stdout).toContain(project);
    expect(stderr).toContain(root);
    expect(readdirSync(root)).toEqual(["project"]);
  });

  it("writes a configuration that starts a server, with the options that were given", () => {
    const { project, run, file } = home();
    const path = put(file("claude-desktop"), '{\n  "globalShortcut": "x"\n}\n');
    const ending = run("setup", "claude-desktop", "--dialect=fs", "--read-only", project, "--yes");
    expect(ending).toMatchObject({ code: 0, stderr: "" });
    expect(ending.stdout).toContain('+  "mcpServers": {');
    const { globalShortcut, mcpServers } = JSON.parse(readFileSync(path, "utf8"));
    expect(globalShortcut).toBe("x");
    const { command, args } = mcpServers.polyfs;
    const hello = {
      jsonrpc: "2.0",
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const { stdout, stderr } = spawnSync(command, [...args, "--log-level=info"], {
      input: `${JSON.stringify(hello)}\n`,
      encoding: "utf8",
      cwd: "/",
    });
    expect(JSON.parse(stdout).result.serverInfo.name).toBe("polyfs");
    expect(stderr).toContain(`serving ${project} (read-only)`);
  });

  it("keeps a backup of the file, and removes polyfs again", () => {
    const { run, file } = home();
    const text = '\ufeff{\r\n  "mcpServers": {\r\n    "a": { "command": "b" }\r\n  }\r\n}';
    const path = put(file("cursor"), text);
    chmodSync(path, 0o600);
    expect(run("setup", "cursor", "--yes").code).toBe(0);
    const backup = readdirSync(dirname(path)).find(name => name.endsWith(".backup")) ?? "";
    expect(readFileSync(join(dirname(path), backup), "utf8")).toBe(text);
    expect(lstatSync(join(dirname(path), backup)).mode & 0o777).toBe(0o600);
    expect(lstatSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).toContain("polyfs");
    expect(run("setup", "cursor", "--yes").stdout).toContain("nothing to change");
    const removal = run("setup", "cursor", "--remove", "--yes");
    expect(removal.code).toBe(0);
    expect(removal.stdout).toContain("Restart Cursor");
    expect(removal.stdout).not.toContain("Turn it on");
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(run("setup", "cursor", "--remove", "--yes").stdout).toContain("no entry");
  });

  it("finds the clients of this machine and sets up each", () => {
    const { run, file } = home();
    put(file("codex"), 'model = "x"\n');
    put(file("goose"), "GOOSE_MODEL: x\n");
    mkdirSync(dirname(file("zed")), { recursive: true });
    const { code } = run("setup", "--yes");
    expect(code).toBe(0);
    expect(readFileSync(file("codex"), "utf8")).toContain("[mcp_servers.polyfs]");
    expect(readFileSync(file("goose"), "utf8")).toContain("extensions:\n  polyfs:\n");
    expect(JSON.parse(readFileSync(file("zed"), "utf8")).context_servers.polyfs.source).toBe("custom");
    expect(existsSync(file("cursor"))).toBe(false);
  });

  it.each([
    ["claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"],
    ["codex", "CODEX_HOME", "config.toml"],
    ["gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"],
  ])("writes where %s looks when %s moves its settings", (client, variable, file) => {
    const { root, project } = home();
    const elsewhere = join(root, "elsewhere");
    const { code, stderr } = polyfs(["setup", "--print", client], {
      cwd: project,
      env: { HOME: root, [variable]: elsewhere },
    });
    expect(code).toBe(0);
    expect(stderr).toContain(join(elsewhere, file));
  });

  it("writes nothing without --yes where there is no terminal to ask at", () => {
    const { run, file } = home();
    const path = put(file("claude-code"), '{"numStartups": 7}');
    const { code, stdout, stderr } = run("setup", "claude-code");
    expect(code).toBe(1);
    expect(stdout).toContain("mcpServers");
    expect(stderr).toContain("add --yes");
    expect(readFileSync(path, "utf8")).toBe('{"numStartups": 7}');
  });

  it("asks on a terminal, and writes only after yes", () => {
    const { project, root, file } = home();
    const path = put(file("gemini"), "{}\n");
    const answer = (word: string) =>
      spawnSync("script", ["-qec", `"${process.execPath}" "${program}" setup gemini`, "/dev/null"], {
        cwd: project,
        input: `${word}\n`,
        encoding: "utf8",
        env: { ...process.env, HOME: root, POLYFS_STATE_DIR: join(root, "../state") },
      });
    expect(answer("").stdout).toContain("Write this? [y/N]");
    expect(readFileSync(path, "utf8")).toBe("{}\n");
    answer("y");
    expect(readFileSync(path, "utf8")).toContain("polyfs");
  });

  it.each([
    ["broken", "{ oops"],
    ["with comments that the client does not know", "// c\n{}"],
    ["in another encoding", "\ud800"],
  ])("leaves a configuration that is %s unchanged, and says what to write by hand", (_, text) => {
    const { run, file } = home();
    const path = put(file("claude-desktop"), "");
    const bytes = text === "\ud800" ? Buffer.from([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]) : Buffer.from(text);
    writeFileSync(path, bytes);
    const { code, stderr } = run("setup", "claude-desktop", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("was not changed");
    expect(stderr).toContain('"mcpServers"');
    expect(readFileSync(path)).toEqual(bytes);
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });

  it("leaves a read-only configuration unchanged", () => {
    const { run, file } = home();
    const path = put(file("claude-desktop"), "{}");
    chmodSync(path, 0o444);
    const { code, stderr } = run("setup", "claude-desktop", "--yes");
    expect(code).toBe(1);
    expect(stderr).toContain("it is read-only");
    expect(readFileSync(path, "utf8")).toBe("{}");
  });

  it("writes through a link to the real settings file", () => {
    const { root, run, file } = home();
    const real = put(join(root, "dotfiles/zed.json"), "// mine\n{}\n");
    mkdirSync(dirname(file("zed")), { recursive: true });
    symlinkSync(real, file("zed"));
    expect(run("setup", "zed", "--yes").code).toBe(0);
    expect(lstatSync(file("zed")).isSymbolicLink()).toBe(true);
    expect(readFileSync(real, "utf8")).toMatch(/^\/\/ mine\n\{\n {2}"context_servers"/);
  });

  it("creates the directories of a client that has none yet, if the client is named", () => {
    const { run, file } = home();
    expect(run("setup", "gemini", "--yes").code).toBe(0);
    expect(JSON.parse(readFileSync(file("gemini"), "utf8")).mcpServers.polyfs).toBeDefined();
  });

  it("reports mistakes before it writes anything", () => {
    const { run } = home();
    expect(run("setup", "cursr").stderr).toContain("did you mean cursor?");
    expect(run("setup", "--print", "Claude Desktop").stderr).toContain("did you mean claude-desktop?");
    expect(run("setup", "cursor", "/no/such", "--yes").stderr).toBe("polyfs: no such directory: /no/such\n");
    expect(run("setup", "cursor", "/", "--yes").stderr).toContain("whole filesystem");
    expect(run("setup", "cursor", "--dialect=fss", "--yes").stderr).toContain("unknown dialect");
    expect(run("setup", "--yes").stderr).toContain("no client found on this machine");
  });

  it("lets npx start it when asked to, and gives it another name", () => {
    const { project, run } = home();
    const { stdout } = run("setup", "--print", "cursor", "--npx", "--name", "files", "--allow-read", ".");
    const { command, args } = JSON.parse(stdout).mcpServers.files;
    expect([command, ...args]).toEqual(["npx", "-y", "polyfs", `--allow-read=${project}`]);
  });

  it("keeps several projects side by side, and updates or removes each on its own", () => {
    const { root, project, run, file } = home();
    const other = join(root, "other");
    mkdirSync(other);
    for (const client of ["claude-desktop", "codex", "goose"]) {
      expect(run("setup", client, project, "--yes").code).toBe(0);
      expect(run("setup", client, other, "--yes").code).toBe(0);
      const both = readFileSync(file(client), "utf8");
      expect(both).toContain(project);
      expect(both).toContain("polyfs-other");
      expect(run("setup", client, other, "--read-only", "--yes").code).toBe(0);
      expect(readFileSync(file(client), "utf8").match(/polyfs-other/g)).toHaveLength(
        both.match(/polyfs-other/g)?.length ?? 0,
      );
      expect(run("setup", client, other, "--remove", "--yes").code).toBe(0);
      const left = readFileSync(file(client), "utf8");
      expect([left.includes(project), left.includes(other)]).toEqual([true, false]);
    }
  });

  it("replaces an entry of that name that serves something else only with --replace", () => {
    const { root, project, run, file } = home();
    const other = join(root, "other");
    mkdirSync(other);
    run("setup", "cursor", project, "--name", "files", "--yes");
    const before = readFileSync(file("cursor"), "utf8");
    const refused = run("setup", "cursor", other, "--name", "files", "--yes");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--replace")]);
    expect(readFileSync(file("cursor"), "utf8")).toBe(before);
    expect(run("setup", "cursor", other, "--name", "files", "--replace", "--yes").code).toBe(0);
    expect(readFileSync(file("cursor"), "utf8")).toContain(other);
  });

  it("writes the project's own file, or lets the client's working directory be served", () => {
    const { project, run } = home();
    expect(run("setup", "claude-code", "--scope", "project", "--yes").code).toBe(0);
    const written = JSON.parse(readFileSync(join(project, ".mcp.json"), "utf8"));
    expect(written.mcpServers.polyfs.args).toContain(project);
    expect(run("setup", "windsurf", "--scope=project", "--yes").stderr).toContain("no file for a project");
    expect(run("setup", "cursor", "--scope=team", "--yes").code).toBe(2);
    const { args } = JSON.parse(run("setup", "--dry-run", "cursor", "--allow-cwd").stdout).mcpServers.polyfs;
    expect(args.slice(1)).toEqual(["--allow-cwd"]);
  });

  it("writes the address and the token of a server that runs", () => {
    const { run, file } = home();
    const url = "http://127.0.0.1:3000/mcp";
    const printed = (client: string) =>
      run("setup", "--print", client, "--url", url, "--token", "secret").stdout;
    const headers = { Authorization: "Bearer secret" };
    expect(JSON.parse(printed("claude-code")).mcpServers.polyfs).toEqual({ type: "http", url, headers });
    expect(JSON.parse(printed("windsurf")).mcpServers.polyfs).toEqual({ serverUrl: url, headers });
    expect(JSON.parse(printed("opencode")).mcp.polyfs).toEqual({
      type: "remote",
      url,
      headers,
      enabled: true,
    });
    expect(printed("codex")).toContain('http_headers = { Authorization = "Bearer secret" }');
    expect(printed("goose")).toContain('      Authorization: "Bearer secret"\n');
    expect(run("setup", "codex", "--url", url, "--yes").code).toBe(0);
    expect(readFileSync(file("codex"), "utf8")).toContain(`url = "${url}"`);
    expect(run("setup", "claude-desktop", "--url", url, "--yes").stderr).toContain("over HTTP");
    expect(run("setup", "codex", "--url", "elsewhere", "--yes").code).toBe(2);
  });

  it("keeps the last five backups", () => {
    const { project, run, file } = home();
    const path = put(file("cursor"), "{}");
    for (let i = 0; i < 5; i++) put(`${path}.2026-01-0${i + 1}-000000-000.backup`, String(i));
    put(`${path}.mine.backup`, "mine");
    run("setup", "cursor", project, "--yes");
    const backups = readdirSync(dirname(path)).filter(name => name.endsWith(".backup"));
    expect(backups).toHaveLength(6);
    expect(backups).toContain("mcp.json.mine.backup");
    expect(backups).not.toContain("mcp.json.2026-01-01-000000-000.backup");
  });

  it("says nothing of its own on stderr, however many clients there are", () => {
    const { run, file } = home();
    for (const client of Object.keys(clients)) mkdirSync(dirname(file(client)), { recursive: true });
    put(file("claude-code"), "{}");
    expect(run("setup", "--yes")).toMatchObject({ code: 0, stderr: "" });
  });
});
