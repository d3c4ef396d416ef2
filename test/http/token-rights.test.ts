// Tokens without a server: what the token file may say, which tokens are accepted, and what each may reach.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { tool } from "../../src/contract/tool.ts";
import { Fault } from "../../src/engine/fault.ts";
import { LruMap } from "../../src/engine/lru-map.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { bearer } from "../../src/mcp/auth/authenticator.ts";
import { Principal } from "../../src/mcp/auth/principal.ts";
import { permits, reachOf } from "../../src/mcp/auth/reach.ts";
import { rootsClaimed } from "../../src/mcp/auth/roots-claim.ts";
import { Tokens, type TokensOptions } from "../../src/mcp/auth/tokens.ts";
import { hashText, newToken, parseTokens, printTokens } from "../../src/mcp/auth/tokens-file.ts";
import { Refusal } from "../../src/mcp/http/refusal.ts";
import { createLog } from "../../src/mcp/log.ts";

const secret = newToken();
const hash = hashText(secret);
const parse = (...tokens: unknown[]) => parseTokens(JSON.stringify({ tokens }), "/etc/polyfs/tokens.json");

let base = "";
let served: Workspace;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "polyfs-tokens-"));
  mkdirSync(join(base, "a/inner"), { recursive: true });
  mkdirSync(join(base, "b"));
  served = Workspace.open([{ path: join(base, "a"), access: "read-write" }]);
});
afterEach(() => {
  served[Symbol.dispose]();
  rmSync(base, { recursive: true, force: true });
});

describe("the token file", () => {
  it("keeps every right, and resolves paths from its own directory", () => {
    const record = {
      name: "ann@example.org",
      hash,
      roots: [
        { path: "projects", access: "read-write" },
        { path: "/srv", access: "read-only" },
      ],
      effects: ["reads", "writes", "runs", "reviews"],
      tools: ["read_file"],
      dialect: "fs",
      workspace: "main",
      workspaceId: "w-1",
      expires: "2027-01-31T00:00:00Z",
      perMinute: 1,
      concurrency: 1,
      maxBytes: 1,
      policy: "ann.json",
    };
    const parsed = parse(record);
    const roots = [{ path: "/etc/polyfs/projects", access: "read-write" }, record.roots[1]];
    expect(parsed).toEqual([{ ...record, roots, policy: "/etc/polyfs/ann.json" }]);
    expect(parseTokens(`\uFEFF${printTokens(parsed)}`, "/elsewhere/tokens.json")).toEqual(parsed);
  });

  it.each([
    [["text"], "token 1 must be an object"],
    [[{ name: "a", hash }, []], "token 2 must be an object"],
    [[{ hash }], 'token 1 has no "name"'],
    [[{ name: "a" }], 'token "a" has no "hash"'],
    [[{ name: "a", hash, readOnly: true }], 'token "a" has an unknown key "readOnly"'],
    [[{ name: "a", hash, toString: true }], 'token "a" has an unknown key "toString"'],
    [[{ name: "a b", hash }], '"name" of token "a b" must be letters, digits and . _ - @'],
    [[{ name: "", hash }], '"name" of token "" must be'],
    [[{ name: 7, hash }], '"name" of token 1 must be'],
    [[{ name: "a", hash: hash.slice(0, -1) }], '"hash" of token "a" must be sha256: and a hash'],
    [[{ name: "a", hash: `x${hash}` }], '"hash" of token "a" must be'],
    [[{ name: "a", hash, roots: [] }], '"roots" of token "a" must be a list of'],
    [[{ name: "a", hash, roots: [{ path: "x", access: "write" }] }], '"roots" of token "a" must be'],
    [[{ name: "a", hash, roots: [{ path: "x" }] }], '"roots" of token "a" must be'],
    [[{ name: "a", hash, roots: [{ access: "read-only" }] }], '"roots" of token "a" must be'],
    [
      [{ name: "a", hash, roots: [{ path: "x", access: "read-only", deny: "y" }] }],
      '"roots" of token "a" must be',
    ],
    [
      [{ name: "a", hash, effects: ["read"] }],
      '"effects" of token "a" must be a list of reads, writes, runs',
    ],
    [[{ name: "a", hash, effects: "reads" }], '"effects" of token "a" must be'],
    [[{ name: "a", hash, tools: [1] }], '"tools" of token "a" must be a list of names'],
    [[{ name: "a", hash, dialect: 1 }], '"dialect" of token "a" must be a name'],
    [[{ name: "a", hash, workspace: ".hidden" }], '"workspace" of token "a" must be a name'],
    [[{ name: "a", hash, workspaceId: "a/b" }], '"workspaceId" of token "a" must be the id of a workspace'],
    [[{ name: "a", hash, expires: "tomorrow" }], '"expires" of token "a" must be a date and time'],
    [[{ name: "a", hash, perMinute: 0 }], '"perMinute" of token "a" must be a whole number, 1 or more'],
    [[{ name: "a", hash, concurrency: 1.5 }], '"concurrency" of token "a" must be a whole number, 1 or more'],
    [[{ name: "a", hash, maxBytes: "9" }], '"maxBytes" of token "a" must be a whole number, 1 or more'],
    [[{ name: "a", hash, policy: "" }], '"policy" of token "a" must be the path of a policy file'],
    [
      [
        { name: "a", hash },
        { name: "b", hash },
        { name: "a", hash },
      ],
      'there are two tokens named "a"',
    ],
  ])("refuses %j", (tokens, message) => {
    expect(() => parse(...tokens)).toThrow(message);
  });

  it.each(["[]", '{"tokens": {}}', "null"])("refuses %s as a whole", text => {
    expect(() => parseTokens(text, "/t.json")).toThrow('it must be {"tokens": [...]}');
  });
});

describe("the directories of a token", () => {
  const grant = (path: string, access: "read-only" | "read-write" = "read-write") => ({
    path: join(base, path),
    access,
  });
  const rootsOf = (workspace: Workspace) => workspace.roots.map(({ path, access }) => [path, access]);

  it("are all served directories if it names none, read-only without the effect writes", () => {
    expect(reachOf(served, undefined, ["reads", "writes"])).toEqual({ workspace: served, narrowed: false });
    const { workspace, narrowed } = reachOf(served, undefined, ["reads"]);
    expect([narrowed, rootsOf(workspace)]).toEqual([true, [[join(base, "a"), "read-only"]]]);
    workspace[Symbol.dispose]();
  });

  it("restrict what is served, and never add to it", () => {
    const { workspace, narrowed } = reachOf(served, [grant("a/inner")], ["writes"]);
    expect([narrowed, rootsOf(workspace)]).toEqual([true, [[join(base, "a/inner"), "read-write"]]]);
    workspace[Symbol.dispose]();
    expect(() => reachOf(served, [grant("b")], ["writes"])).toThrow(Fault);
    using readOnly = Workspace.open([grant("a", "read-only")]);
    using part = reachOf(readOnly, [grant("a/inner")], ["writes"]).workspace;
    expect(rootsOf(part)).toEqual([[join(base, "a/inner"), "read-only"]]);
  });

  it("are its own if the server names none, but never the whole file system", () => {
    using none = Workspace.open([], { anyDirectory: "read-write" });
    using own = reachOf(none, [grant("b")], ["writes"]).workspace;
    expect(rootsOf(own)).toEqual([[join(base, "b"), "read-write"]]);
    expect(() => reachOf(none, [grant("b"), { path: "/", access: "read-only" }], ["writes"])).toThrow(
      "/ is the whole filesystem",
    );
  });

  it("come from a claim as paths, or as paths with an access, and from nothing else", () => {
    expect(rootsClaimed("/a")).toEqual([{ path: "/a", access: "read-write" }]);
    expect(rootsClaimed(["/a", { path: "/b", access: "read-only" }, { path: "/c" }])).toEqual([
      { path: "/a", access: "read-write" },
      { path: "/b", access: "read-only" },
      { path: "/c", access: "read-write" },
    ]);
    expect(rootsClaimed(Array(100).fill("/a"))).toHaveLength(100);
    expect(() => rootsClaimed([])).toThrow("no directories, or too many");
    expect(() => rootsClaimed(Array(101).fill("/a"))).toThrow("no directories, or too many");
    for (const claim of [undefined, null, 7, [["/a"]], [{ path: 7 }], [{ path: "/a", access: "write" }]])
      expect(() => rootsClaimed(claim)).toThrow("not a list of paths");
  });

  it("permit a tool by its effect and, if tools are named, by its name", () => {
    const named = (name: string, effect: "reads" | "writes") =>
      tool({
        name,
        title: name,
        description: "",
        input: { type: "object", properties: {} },
        effect,
        paths: [],
        run: undefined as never,
      });
    const reads = permits(["reads"]);
    expect([reads(named("a", "reads")), reads(named("a", "writes"))]).toEqual([true, false]);
    const one = permits(["reads", "writes"], ["a"]);
    expect([one(named("a", "writes")), one(named("b", "writes"))]).toEqual([true, false]);
  });
});

describe("a token of the file", () => {
  const log = createLog("error", () => {});
  const options = (tokens: unknown[]): TokensOptions => {
    const file = join(base, "tokens.json");
    writeFileSync(file, JSON.stringify({ tokens }));
    return { file, workspace: served, log };
  };
  const refusal = (act: () => unknown): unknown[] => {
    try {
      act();
    } catch (error) {
      if (error instanceof Refusal) return [error.status, error.message, error.headers?.["www-authenticate"]];
      throw error;
    }
    return [];
  };

  it("is read from the Authorization header", () => {
    expect(bearer("Bearer abc.DEF-_~+/==")).toBe("abc.DEF-_~+/==");
    expect(bearer("bearer   abc  ")).toBe("abc");
    for (const header of [undefined, "", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "xBearer abc"])
      expect(bearer(header)).toBeUndefined();
  });

  it("is accepted while it is in the file and has not expired", () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    using tokens = new Tokens(options([{ name: "ann", hash, expires: soon, perMinute: 7 }]));
    const ann = tokens.identify(`Bearer ${secret}`);
    expect([ann.is.name, ann.is.perMinute, ann.is.expires]).toEqual(["ann", 7, Date.parse(soon)]);
    expect(tokens.identify(`Bearer ${secret}`)).toBe(ann);
    expect(refusal(() => tokens.identify(undefined))).toEqual([
      401,
      expect.stringContaining("send a token"),
      "Bearer",
    ]);
    const unknown = [401, "Unauthorized: unknown token", 'Bearer error="invalid_token"'];
    expect(refusal(() => tokens.identify(`Bearer ${newToken()}`))).toEqual(unknown);
    options([{ name: "ann", hash, expires: "2020-01-01T00:00:00Z" }]);
    const expired = [401, "Unauthorized: the token has expired", 'Bearer error="invalid_token"'];
    expect(refusal(() => tokens.identify(`Bearer ${secret}`))).toEqual(expired);
    expect(ann.ended).toBe(true);
    rmSync(join(base, "tokens.json"));
    expect(refusal(() => tokens.identify(`Bearer ${secret}`))).toEqual(unknown);
  });

  it("stays valid while the file is broken", () => {
    using tokens = new Tokens(options([{ name: "ann", hash }]));
    const ann = tokens.identify(`Bearer ${secret}`);
    writeFileSync(join(base, "tokens.json"), '{"tokens": [');
    expect(tokens.identify(`Bearer ${secret}`)).toBe(ann);
    expect(ann.ended).toBe(false);
  });

  it("for directories that cannot be served is refused, and the error does not name them", () => {
    using tokens = new Tokens(
      options([{ name: "ann", hash, roots: [{ path: join(base, "b"), access: "read-only" }] }]),
    );
    expect(refusal(() => tokens.identify(`Bearer ${secret}`))).toEqual([
      403,
      "Forbidden: the directories of this token cannot be served",
      undefined,
    ]);
  });

  it("reads and writes unless it says otherwise; resources need reads without a list of tools", () => {
    const all = ["reads", "writes", "runs", "reviews"];
    using tokens = new Tokens(options([{ name: "ann", hash }]));
    const rights = () => {
      const { is } = tokens.identify(`Bearer ${secret}`);
      return [is.browses, is.reviews !== undefined, is.reach?.access, is.narrowed];
    };
    expect(rights()).toEqual([true, false, "read-write", false]);
    options([{ name: "ann", hash, effects: ["reads"] }]);
    expect(rights()).toEqual([true, false, "read-only", true]);
    options([{ name: "ann", hash, effects: all, tools: ["read_file"] }]);
    expect(rights()).toEqual([false, true, "read-write", false]);
    options([{ name: "ann", hash, effects: ["writes"] }]);
    expect(rights()).toEqual([false, false, "read-write", false]);
    options([{ name: "ann", hash, roots: [{ path: join(base, "a/inner"), access: "read-write" }] }]);
    expect(rights()).toEqual([true, false, undefined, true]);
  });
});

describe("a caller", () => {
  const principal = (expires?: number) =>
    new Principal({
      owner: "ann",
      workspace: served,
      narrowed: false,
      browses: true,
      permits: () => true,
      refuse: () => new Refusal(403, "Forbidden"),
      ...(expires === undefined ? {} : { expires }),
    });

  it("ends when its grant expires, and tells its listeners once", async () => {
    const ann = principal(Date.now() + 5);
    let ends = 0;
    ann.onEnd(() => ends++);
    ann.onEnd(() => ends++)();
    await expect.poll(() => ann.ended).toBe(true);
    expect(ends).toBe(1);
  });

  it("lasts as long as the longest of its grants", async () => {
    const ann = principal(Date.now() + 5);
    ann.lastUntil(Date.now() + 3_600_000);
    ann.lastUntil(Date.now() + 5);
    await new Promise(resolve => setTimeout(resolve, 30));
    expect(ann.ended).toBe(false);
    ann.end();
  });

  it("ends when its grant expires, also if that is later than a timer can wait", () => {
    vi.useFakeTimers();
    try {
      const day = 86_400_000;
      const ann = principal(Date.now() + 60 * day);
      vi.advanceTimersByTime(59 * day);
      expect(ann.ended).toBe(false);
      vi.advanceTimersByTime(day);
      expect(ann.ended).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it("keeps its own workspace open until its last use ends", async () => {
    const workspace = served.part([{ path: join(base, "a/inner"), access: "read-write" }]);
    const ann = new Principal({ ...principal().is, workspace, narrowed: true });
    const [first, second] = [ann.use(), ann.use()];
    ann.retire();
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    expect([ann.isUsed, ann.ended]).toEqual([true, false]);
    await expect(workspace.openFile(workspace.at("missing"))).rejects.toThrow("not_found");
    second[Symbol.dispose]();
    expect(ann.isUsed).toBe(false);
    await expect(workspace.openFile(workspace.at("missing"))).rejects.not.toThrow("not_found");
  });

  it("closes the workspace that it reviews, but never the one that is served", async () => {
    const missing = (workspace: Workspace) => workspace.openFile(workspace.at("missing"));
    new Principal({ ...principal().is, reviews: served }).retire();
    await expect(missing(served)).rejects.toThrow("not_found");
    const reviews = served.under({ current: () => [] });
    new Principal({ ...principal().is, reviews }).retire();
    await expect(missing(reviews)).rejects.not.toThrow("not_found");
    await expect(missing(served)).rejects.toThrow("not_found");
  });

  it("is remembered among the most recently used", () => {
    const dropped: number[] = [];
    const recent = new LruMap<string, number>(2, value => dropped.push(value));
    recent.set("a", 1);
    recent.set("b", 2);
    expect([recent.get("a"), recent.get("c")]).toEqual([1, undefined]);
    recent.set("c", 3);
    expect([recent.get("a"), recent.get("b"), recent.get("c"), dropped]).toEqual([1, undefined, 3, [2]]);
    recent.clear();
    expect([recent.get("a"), dropped]).toEqual([undefined, [2, 1, 3]]);
  });
});
