import { execFileSync } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fault } from "../../src/engine/fault.ts";
import { grep } from "../../src/engine/search/grep.ts";
import type { GrepReport } from "../../src/engine/search/grep-terms.ts";
import { launch } from "../../src/engine/search/ripgrep-run.ts";
import { all, byteSorted, chance, Tree } from "./tree.ts";

const ignore = { rules: true, hidden: false };

describe("a search for names or numbers", () => {
  it("returns what ripgrep returns, limited by files", async () => {
    const random = chance(9);
    const body = () =>
      Array.from({ length: random.below(9) }, () => random.pick(["alpha", "Beta", ""])).join("\n");
    using tree = new Tree({ ".gitignore": "out/\n" });
    for (let i = 0; i < 300; i++)
      tree.add({ [`${random.pick(["", "src/", "out/", "a b/"])}file${i}.txt`]: body() });
    const told = tree
      .rg(["-c", "--null", "--no-require-git", "alpha"])
      .toString()
      .split("\n")
      .filter(Boolean);
    const number = new Map(told.map(line => line.split("\0") as [string, string]));
    using directory = tree.directory();
    for (const query of [{ pattern: "alpha", literal: true }, { pattern: "alph[a]" }]) {
      const counts = await all(grep(directory, query, { ignore, form: "counts" }));
      const names = await all(grep(directory, query, { ignore, form: "files" }));
      expect(names).toEqual(byteSorted([...number.keys()]).map(path => ({ path, lines: [] })));
      expect(counts).toEqual(names.map(file => ({ ...file, count: Number(number.get(file.path)) })));
      for (const [form, whole] of [
        ["files", names],
        ["counts", counts],
      ] as const) {
        const few = grep(directory, query, { ignore, form, limit: 3 });
        expect((await all(few)).slice(0, 3)).toEqual(whole.slice(0, 3));
        expect(few.report.stopped).toBe("limit");
      }
    }
  });

  it("counts lines where there are more of them than can be held", async () => {
    using tree = new Tree({ "a.txt": "needle\n".repeat(300_000) });
    using directory = tree.directory();
    const search = grep(directory, { pattern: "needl[e]" }, { form: "counts" });
    expect(await all(search)).toEqual([{ path: "a.txt", lines: [], count: 300_000 }]);
    expect(search.report.stopped).toBeUndefined();
  });
});

describe("a search for lines", () => {
  it("returns a small file along with its matches, however it is searched, and not a large one", async () => {
    const small = "one\r\nneedle\n\ufefftwo";
    using tree = new Tree({ "large.txt": "needle\n".repeat(20_000), "small.txt": small });
    using directory = tree.directory();
    const here = { pattern: "needle", literal: true };
    for (const query of [here, here, { pattern: "needle", lookaround: true, multiline: true }]) {
      const found = await all(grep(directory, query));
      expect(found.map(({ path, whole }) => [path, whole?.toString()])).toEqual([
        ["large.txt", undefined],
        ["small.txt", small],
      ]);
    }
  });
});

describe("a FIFO that takes a file's place", () => {
  it("is not read where it is asked for by name", async () => {
    using tree = new Tree();
    execFileSync("mkfifo", [join(tree.path, "pipe")]);
    using directory = tree.directory();
    for (const query of [{ pattern: "needle", literal: true }, { pattern: "needl[e]" }]) {
      const search = grep(directory, query, { file: "pipe" });
      expect(await all(search)).toEqual([]);
      expect(search.report.inaccessible).toBe(1);
    }
  });

  it("blocks ripgrep only until the timeout or until the caller gives up", async () => {
    using tree = new Tree();
    using directory = tree.directory();
    execFileSync("mkfifo", [join(tree.path, "b.txt")]);
    // What is named to ripgrep it opens, whatever it is: as it does with a file that was swapped after it was seen.
    const job = { start: directory, rules: "", file: "b.txt" };
    const query = { pattern: "needl[e]" };
    const report: GrepReport = { files: 0, inaccessible: 0, stopped: undefined };
    const late = await launch({ ...job, query, options: { timeoutMs: 300 } }, report);
    await late.blocks();
    expect(report.stopped).toBe("time");
    const abort = new AbortController();
    const held = await launch({ ...job, query, options: { signal: abort.signal } }, report);
    setTimeout(() => abort.abort(), 100);
    expect(Fault.is(await held.blocks().catch(error => error), "cancelled")).toBe(true);
    while (ripgrepRunsIn(tree.path)) await new Promise(resolve => setTimeout(resolve, 5));
  });
});

function ripgrepRunsIn(path: string): boolean {
  return readdirSync("/proc").some(pid => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === path && readlinkSync(`/proc/${pid}/exe`).endsWith("/rg");
    } catch {
      return false;
    }
  });
}
