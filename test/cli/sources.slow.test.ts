// The same options from the command line, the environment and a file, and which takes precedence.
import { writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { polyfs, served, tree } from "./program.ts";

function refusal(args: string[], circumstances?: Parameters<typeof polyfs>[1]): string {
  const { code, stdout, stderr } = polyfs(args, circumstances);
  expect([code, stdout]).toEqual([2, ""]);
  return stderr;
}

describe("the environment", () => {
  it("names directories in lists, like PATH", () => {
    const root = tree("a", "b", "c");
    const env = {
      POLYFS_DIRECTORIES: ["a", "b"].join(delimiter),
      POLYFS_ALLOW_READ: `c${delimiter}`,
    };
    expect(served([], { cwd: root, env })).toEqual([
      `${root}/a (read-write)`,
      `${root}/b (read-write)`,
      `${root}/c (read-only)`,
    ]);
  });

  it.each(["1", "true", "YES", "On"])("says yes by %s", yes => {
    const root = tree();
    expect(served([root], { env: { POLYFS_READ_ONLY: yes } })).toEqual([`${root} (read-only)`]);
  });

  it.each(["0", "false", "NO", "Off", ""])("says no by '%s'", no => {
    const root = tree();
    expect(served([root], { env: { POLYFS_READ_ONLY: no } })).toEqual([`${root} (read-write)`]);
  });

  it("refuses any other value", () => {
    const said = refusal([tree()], { env: { POLYFS_READ_ONLY: "maybe" } });
    expect(said).toBe('polyfs: POLYFS_READ_ONLY must be true or false, not "maybe"\n');
  });

  it("ignores variables that are not meant for it", () => {
    expect(
      polyfs(["--dialect", "fs", tree()], { env: { POLYFS_JOB: "7", POLYFS_SWAP_SECONDS: "1" } }).code,
    ).toBe(0);
  });

  it("refuses a mistyped variable, because the user relies on it", () => {
    const said = refusal([tree()], { env: { POLYFS_READONLY: "1" } });
    expect(said).toBe(
      "polyfs: unknown environment variable POLYFS_READONLY (did you mean POLYFS_READ_ONLY?)\n",
    );
  });

  it("can choose the dialect", () => {
    expect(polyfs(["tools"], { env: { POLYFS_DIALECT: "fs" } }).stdout).toContain("read_file");
  });
});

describe("the configuration file", () => {
  const file = (root: string, content: unknown) => {
    const path = join(root, "polyfs.json");
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  };

  it("spells options in camelCase or kebab-case, and its directories start at its own", () => {
    const root = tree("a", "b", "elsewhere");
    const config = file(root, {
      directories: "a",
      allowRead: ["b"],
      "log-level": "info",
      dialect: "agent-tools",
    });
    const { code, stderr } = polyfs([`--config=${config}`], { cwd: join(root, "elsewhere") });
    expect(code).toBe(0);
    expect(stderr).toContain(`serving ${root}/a (read-write)`);
    expect(stderr).toContain(`serving ${root}/b (read-only)`);
  });

  it("can be named in the environment, and may have a byte-order mark", () => {
    const root = tree("a");
    const config = file(root, `\uFEFF${JSON.stringify({ readOnly: true, directories: ["a"] })}`);
    expect(served([], { env: { POLYFS_CONFIG: config } })).toEqual([`${root}/a (read-only)`]);
  });

  it("refuses unknown keys, and the options that make no sense in it", () => {
    const root = tree();
    const unknown = file(root, { allowReed: "." });
    expect(refusal(["--config", unknown])).toBe(
      `polyfs: unknown key "allowReed" in ${unknown} (did you mean allow-read?)\n`,
    );
    for (const key of ["config", "help", "version"]) {
      expect(refusal(["--config", file(root, { [key]: "x" })])).toContain(`unknown key "${key}"`);
    }
  });

  it("refuses values of the wrong type", () => {
    const root = tree();
    const wrong = (content: unknown) => refusal(["--config", file(root, content)]);
    expect(wrong({ readOnly: "true" })).toContain('"readOnly" in');
    expect(wrong({ readOnly: "true" })).toContain("must be true or false");
    expect(wrong({ directories: [1] })).toContain("must be a path or an array of paths");
    expect(wrong({ dialect: null })).toContain("must be a string");
    expect(wrong({ logLevel: "loud" })).toContain('must be one of error, warn, info, debug, not "loud"');
    expect(wrong([])).toContain("must hold a JSON object");
  });

  it("that is missing or not JSON is reported in one line", () => {
    const root = tree();
    expect(refusal(["--config", join(root, "none.json")])).toBe(
      `polyfs: the configuration cannot be read: No such file or directory: ${root}/none.json\n`,
    );
    expect(refusal(["--config", file(root, "{\n oops\n")])).toMatch(
      /^polyfs: the configuration cannot be read: .*polyfs\.json is not JSON \(.*\)\n$/,
    );
  });
});

describe("precedence", () => {
  it("of values: command line, then environment, then file", () => {
    const root = tree();
    const config = join(root, "polyfs.json");
    writeFileSync(config, JSON.stringify({ readOnly: true, logLevel: "debug" }));
    const env = { POLYFS_READ_ONLY: "no" };
    expect(served(["--config", config, root])).toEqual([`${root} (read-only)`]);
    expect(served(["--config", config, root], { env })).toEqual([`${root} (read-write)`]);
    expect(served(["--config", config, root, "--read-only"], { env })).toEqual([`${root} (read-only)`]);
    expect(served([root, "--no-read-only"], { env: { POLYFS_READ_ONLY: "yes" } })).toEqual([
      `${root} (read-write)`,
    ]);
  });

  it("of directories: all from the first source that names any, so that naming one grants no other", () => {
    const root = tree("line", "environment", "file");
    const config = join(root, "polyfs.json");
    writeFileSync(config, JSON.stringify({ allowWrite: "file" }));
    const env = { POLYFS_CONFIG: config, POLYFS_ALLOW_READ: join(root, "environment") };
    expect(served(["--workspace", join(root, "line")], { env })).toEqual([`${root}/line (read-write)`]);
    expect(served([], { env })).toEqual([`${root}/environment (read-only)`]);
    expect(served([], { env: { POLYFS_CONFIG: config } })).toEqual([`${root}/file (read-write)`]);
  });
});
