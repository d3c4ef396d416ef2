// The program's compiled form: where it is kept, which starts keep one, and that servers answer alike with it,
// without it, and with a broken one.
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { codeCache } from "../../src/cli/code-cache.ts";
import { keepCompiled } from "../../src/cli/keep-compiled.ts";
import { start } from "../mcp/wire.ts";
import { polyfs, tree } from "./program.ts";

/** Serves until the form is kept, where it is to be; returns what the client saw. */
async function served(root: string, cache: string, fills: boolean): Promise<unknown> {
  await using wire = await start({ roots: [root], env: { POLYFS_CODE_CACHE: cache } });
  await wire.initialize();
  const { result } = await wire.request("tools/list");
  if (fills) {
    const watcher = watch(cache);
    while (!forms(cache).some(name => name.endsWith(".code"))) await once(watcher, "change");
    watcher.close();
  }
  expect(wire.stderr).toMatch(/^\S+ polyfs info: started at stdio .*\n$/);
  return result;
}

function forms(cache: string): string[] {
  return existsSync(cache) ? readdirSync(cache) : [];
}

it("a server caches its compiled code after its first answers, and answers the same with and without the cache", async () => {
  const root = tree("project", "cache");
  const cache = join(root, "cache");
  const first = await served(join(root, "project"), cache, true);
  const [form = ""] = forms(cache);
  const kept = readFileSync(join(cache, form));
  expect(await served(join(root, "project"), cache, false)).toEqual(first);
  expect(await served(join(root, "project"), "off", false)).toEqual(first);

  const broken = Buffer.from(kept);
  broken.fill(0xff, kept.length / 2, kept.length / 2 + 64);
  writeFileSync(join(cache, form), broken);
  expect(await served(join(root, "project"), cache, false)).toEqual(first);
});

it("a misspelled variable name is refused like any other", () => {
  expect(polyfs(["--version"], { env: { POLYFS_CODE_CACHE: "off" } }).code).toBe(0);
  const { code, stderr } = polyfs([tree()], { env: { POLYFS_CODE_CACH: "off" } });
  expect([code, stderr]).toEqual([
    2,
    "polyfs: unknown environment variable POLYFS_CODE_CACH (did you mean POLYFS_CODE_CACHE?)\n",
  ]);
});

describe("when the compiled code is cached", () => {
  /** Looks quickly, and returns how much had been read each time that something was kept. */
  const watched = (times: number, looks: number) => {
    const kept: number[] = [];
    const client = { sent: 100 };
    const keep = async () => void kept.push(client.sent);
    const moments = { firstMs: 1, everyMs: 5, looks };
    keepCompiled({ value: undefined, times, keep }, () => client.sent, moments);
    const until = async (count: number) => {
      while (kept.length < count) await sleep(1);
      await sleep(20);
      return kept;
    };
    return { client, until };
  };

  it("after the first answers, and again when later requests loaded more code", async () => {
    const { client, until } = watched(0, 9);
    expect(await until(2)).toEqual([100, 100]);
    client.sent = 300;
    expect(await until(3)).toEqual([100, 100, 300]);
  });

  it("not right after a start that used a cache, and only a limited number of times", async () => {
    const { client, until } = watched(1, 2);
    expect(await until(1)).toEqual([100]);
    client.sent = 200;
    expect(await until(2)).toEqual([100, 200]);
    client.sent = 300;
    expect(await until(2)).toEqual([100, 200]);
    expect(await watched(5, 2).until(0)).toEqual([]);
  });
});

describe("where the compiled code is cached", () => {
  const home = process.platform === "win32" ? "C:\\home" : "/home/me";
  const at = (environment: NodeJS.ProcessEnv) => codeCache([], environment)?.directory;

  it.runIf(process.platform === "linux")(
    "in the user's cache directory, or in the named one, never in a relative one",
    () => {
      expect(at({ HOME: home })).toBe("/home/me/.cache/polyfs");
      expect(at({ HOME: home, XDG_CACHE_HOME: "/var/cache/me" })).toBe("/var/cache/me/polyfs");
      expect(at({ HOME: home, XDG_CACHE_HOME: "cache" })).toBe("/home/me/.cache/polyfs");
      expect(at({ HOME: home, POLYFS_CODE_CACHE: "/opt/cache" })).toBe("/opt/cache");
      expect(at({ HOME: home, POLYFS_CODE_CACHE: "cache" })).toBeUndefined();
      expect(at({ HOME: home, POLYFS_CODE_CACHE: "off" })).toBeUndefined();
      expect(at({})).toBeUndefined();
    },
  );

  it("each dialect has its own cache, however it is named, and commands have none", () => {
    const of = (...args: string[]) => codeCache(args, { HOME: home, LOCALAPPDATA: home });
    const uses = [[], ["--dialect", "fs"], ["--dialect", "replay"], ["--http", "8080"]].map(
      args => of(...args)?.use,
    );
    expect(new Set(uses).size).toBe(4);
    expect(codeCache([], { HOME: home, LOCALAPPDATA: home, POLYFS_DIALECT: "fs" })?.use).toBe(
      of("--dialect", "fs")?.use,
    );
    expect(of("--dialect=fs", home)?.use).toBe(of("--dialect", "fs", home)?.use);
    expect([of("call", "read_file"), of(home), of("--read-only", ".")].map(cache => cache?.fill)).toEqual([
      false,
      true,
      true,
    ]);
  });
});
