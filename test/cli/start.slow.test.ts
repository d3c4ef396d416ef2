// Questions, mistakes and subcommands on the command line.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { options } from "../../src/cli/options.ts";
import { defaultDialect, dialects } from "../../src/dialects/index.ts";
import { polyfs, repository, served, tree } from "./program.ts";

const metadata = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));

function refusal(...args: string[]): string {
  const { code, stdout, stderr } = polyfs(args);
  expect([code, stdout]).toEqual([2, ""]);
  return stderr;
}

describe("questions are answered on stdout, with code 0", () => {
  it.each([["--version"], ["-v"], ["--version", "/no/such/directory"]])(
    "%s tells the package's version",
    (...args) => {
      expect(polyfs(args)).toEqual({ code: 0, stdout: `${metadata.version}\n`, stderr: "" });
    },
  );

  it.each(["--help", "-h"])("%s names every option, dialect and subcommand, in 80 columns", flag => {
    const { code, stdout, stderr } = polyfs([flag]);
    expect([code, stderr]).toEqual([0, ""]);
    for (const name of Object.keys(options))
      if (name !== "directories") expect(stdout).toMatch(new RegExp(`--(no-)?${name}\\b`));
    for (const name of Object.keys(dialects)) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
    expect(stdout).toContain("polyfs tools");
    expect(Math.max(...stdout.split("\n").map(line => line.length))).toBeLessThanOrEqual(80);
  });
});

it("it fails silently if the reader closes the pipe early", () => {
  const line = `"${process.execPath}" "${join(repository, "dist/polyfs.cjs")}" --help | true; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = spawnSync("bash", ["-c", line], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "1\n", stderr: "" });
});

describe("a mistake is reported in one line on stderr, with code 2", () => {
  it("an unknown option, with the one that was meant", () => {
    expect(refusal("--allow-wirte", "x")).toBe(
      "polyfs: unknown option --allow-wirte (did you mean --allow-write?); see polyfs --help\n",
    );
    expect(refusal("--readonly")).toContain("did you mean --read-only?");
    expect(refusal("--no-readonly")).toContain("did you mean --no-read-only?");
    expect(refusal("--frobnicate-everything")).toBe(
      "polyfs: unknown option --frobnicate-everything; see polyfs --help\n",
    );
    expect(refusal("-x")).toContain("unknown option -x");
  });

  it("an option that --no- cannot negate", () => {
    expect(refusal("--no-dialect")).toContain("unknown option --no-dialect");
    expect(refusal("--no-version")).toContain("unknown option --no-version");
    expect(refusal("--directories", "x")).toContain("unknown option --directories");
  });

  it("an option without its value", () => {
    expect(refusal("--dialect")).toBe("polyfs: --dialect needs a value\n");
    expect(refusal("--dialect=")).toBe("polyfs: --dialect needs a value\n");
    expect(refusal("--allow-write", "--read-only")).toBe("polyfs: --allow-write needs a value\n");
  });

  it("a value for an option that takes none", () => {
    expect(refusal("--read-only=perhaps")).toBe('polyfs: --read-only must be true or false, not "perhaps"\n');
    expect(refusal("--no-read-only=true")).toBe("polyfs: --no-read-only takes no value\n");
    expect(refusal("--log-level", "loud")).toContain("--log-level must be one of error, warn, info, debug");
  });

  it("an unknown dialect, with the known ones", () => {
    const names = Object.keys(dialects).join(", ");
    expect(refusal("--dialect", "fss", tree())).toBe(
      `polyfs: unknown dialect "fss" (did you mean fs?); there are: ${names}\n`,
    );
    expect(refusal("--dialect", "constructor", tree())).toContain("unknown dialect");
  });
});

describe.runIf(defaultDialect === undefined)("while there is no default dialect", () => {
  it("a start has to choose one", () => {
    expect(refusal(tree())).toBe(
      `polyfs: choose a dialect with --dialect: ${Object.keys(dialects).join(", ")}\n`,
    );
  });
});

describe("subcommands", () => {
  it("tools lists what a dialect offers", () => {
    const { code, stdout } = polyfs(["tools", "--dialect", "fs"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^fs\.read_file +reads: /m);
    expect(polyfs(["tools", "--dialect=fs", "--plain-names"]).stdout).toMatch(/^read_file +reads: /m);
  });

  it("answer --help, and report mistakes like any start", () => {
    expect(polyfs(["tools", "--help"]).stdout).toContain("Usage: polyfs");
    expect(refusal("tools", "--dailect", "fs")).toContain("did you mean --dialect?");
  });

  it("leave a directory of their name to be served by its path", () => {
    const root = tree("tools");
    expect(served(["./tools"], { cwd: root })).toEqual([`${root}/tools (read-write)`]);
    expect(polyfs(["./tools", "--dialect", "fs"], { cwd: root }).code).toBe(0);
  });
});

describe("a successful start", () => {
  const request = (id: number, method: string, params: object = {}) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const hello = request(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });

  it("prints one line on stderr and only the protocol on stdout, and ends when the client disconnects", () => {
    const { code, stdout, stderr } = polyfs(["--dialect", "fs", tree()], {
      input: hello + request(2, "tools/list"),
    });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^\S+Z polyfs info: started at stdio .*\n$/)]);
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map(line => JSON.parse(line));
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
    expect(answers[0].result.serverInfo).toMatchObject({ name: "polyfs", version: metadata.version });
  });

  it("advertises names without the prefix when asked to", () => {
    const names = (...args: string[]) => {
      const { stdout } = polyfs(["--dialect", "fs", ...args, tree()], {
        input: hello + request(2, "tools/list"),
      });
      const list = stdout
        .split("\n")
        .filter(Boolean)
        .map(line => JSON.parse(line))
        .find(({ id }) => id === 2);
      return list.result.tools.map(({ name }: { name: string }) => name);
    };
    expect(names()).toContain("fs.read_file");
    expect(names("--plain-names")).toContain("read_file");
    expect(names("--plain-names", "--no-plain-names")).toContain("fs.read_file");
  });
});

it("without a home directory nothing is made inside the project", () => {
  const root = tree();
  const env = { HOME: "", XDG_STATE_HOME: "state" };
  const params = JSON.stringify({ path: "a.txt", content: "x" });
  expect(polyfs(["call", "write_file", params], { cwd: root, env })).toMatchObject({ code: 0 });
  expect(readdirSync(root)).toEqual(["a.txt"]);
});

it.runIf(process.platform === "linux")(
  "changes files where the home directory looks writable but is not",
  () => {
    const env = { HOME: "/proc", XDG_STATE_HOME: "", POLYFS_CODE_CACHE: "off" };
    const args = ["call", "--text", "write_file", '{"path":"a","content":"b"}'];
    const { code, stdout } = polyfs(args, { cwd: tree(), env });
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining("history is kept in the temporary directory"),
    ]);
  },
);
