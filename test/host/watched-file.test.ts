// Files that restrict callers, while something odd is in their place: the rules never become laxer, the server does not
// wait, and an error is logged once.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { watchGrants } from "../../src/cli/policy/grants-file.ts";
import { choosePolicy } from "../../src/cli/policy/policy-choice.ts";
import { parsePolicy } from "../../src/cli/policy/policy-file.ts";
import { WatchedFile } from "../../src/host/watched-file.ts";
import { hashText, newToken, parseTokens } from "../../src/mcp/auth/tokens-file.ts";

let file: string;
let logged: string[];
const tell = (message: string) => void logged.push(message);
const log = { error: tell, warn: tell, info: tell, debug: tell, started: tell };
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-watched-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  file = join(directory, "file.json");
  logged = [];
});

/** What may be at a path instead of a file that can be used. */
const oddities: Record<string, () => unknown> = {
  "a directory": () => mkdirSync(file),
  "a link to itself": () => symlinkSync(file, file),
  "an endless device": () => symlinkSync("/dev/zero", file),
  "a huge file": () => {
    writeFileSync(file, "");
    truncateSync(file, 2 ** 32);
  },
  ...(process.platform !== "win32" && { "a FIFO": () => spawnSync("mkfifo", [file]) }),
};

describe("a watched file", () => {
  it.each(Object.entries(oddities))("fails once with %s in its place, and is read again after", (_, put) => {
    writeFileSync(file, "one");
    const watched = new WatchedFile(file);
    expect(watched.changed()).toEqual({ text: "one" });
    rmSync(file);
    put();
    expect(() => watched.changed()).toThrow();
    for (let n = 0; n < 3; n++) expect(watched.changed()).toBeUndefined();
    rmSync(file, { recursive: true });
    writeFileSync(file, "two");
    expect(watched.changed()).toEqual({ text: "two" });
    rmSync(file);
    expect(watched.changed()).toEqual({ text: undefined });
  });

  it("of a policy keeps its rules, and of grants holds nothing", async () => {
    const rules = JSON.stringify({ rules: [{ paths: ["secret"], access: "deny" }] });
    writeFileSync(file, rules);
    const policy = choosePolicy(file, false, {}, log);
    const grants = watchGrants(file, log);
    for (const put of [
      ...Object.values(oddities),
      () => writeFileSync(file, `${rules.slice(0, -1)},"rules":[]}`),
    ]) {
      rmSync(file, { recursive: true });
      put();
      await setTimeout(150); // until it looks again
      expect(policy.current()[0]?.decide("/root", "secret").contents).toBe("none");
      expect(grants()).toEqual([]);
    }
    expect(logged.filter(line => line.includes("old rules stay"))).toHaveLength(
      Object.keys(oddities).length + 1,
    );
  });
});

describe("a key that appears twice in one object", () => {
  const deny = '"access":"deny"';
  it.each([
    `{"rules":[{"paths":["a"],${deny}}],"rules":[]}`,
    `{"rules":[{"paths":["a"],"paths":["b"],${deny}}]}`,
    `{"rules":[{"paths":["a"],${deny} , "acc\\u0065ss" : "write"}]}`,
    `{"rules":[{"name":"x\\\\","paths":["{a,b}\\""],${deny},"name":"y"}]}`,
  ])("makes a policy wrong: %s", text => {
    expect(parsePolicy(text)).toEqual({ wrong: [expect.stringMatching(/appears twice/)] });
  });

  it("is accepted in different objects, or in a string", () => {
    const text = `{"rules":[{"paths":["a"],${deny}},{"name":"\\"paths\\": {","paths":["paths","access"],${deny}}]}`;
    expect(parsePolicy(text)).toHaveProperty("document");
  });

  it("makes tokens wrong, and so does one hash for two", () => {
    const hash = hashText(newToken());
    const tokens = (...records: readonly string[]) => `{"tokens":[${records.join()}]}`;
    const ann = `{"name":"ann","hash":"${hash}"}`;
    expect(parseTokens(tokens(ann), file)).toHaveLength(1);
    expect(() =>
      parseTokens(tokens(`{"effects":["reads"],"effects":["runs"],${ann.slice(1)}`), file),
    ).toThrow(/"effects" appears twice/);
    expect(() => parseTokens(tokens(ann, ann.replace("ann", "bob")), file)).toThrow(/hash of another/);
  });
});
