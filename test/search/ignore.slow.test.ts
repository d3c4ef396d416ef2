import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { grep } from "../../src/engine/search/grep.ts";
import { matchLines } from "../../src/engine/search/match-lines.ts";
import { walk } from "../../src/engine/search/walk.ts";
import { all, byteSorted, chance, Tree } from "./tree.ts";

const rules = { rules: true, hidden: true };
const home = process.env.HOME;
const xdg = process.env.XDG_CONFIG_HOME;
const emptyHome = new Tree();

beforeAll(() => {
  process.env.HOME = emptyHome.path;
  delete process.env.XDG_CONFIG_HOME;
});

afterAll(() => {
  process.env.HOME = home;
  if (xdg !== undefined) process.env.XDG_CONFIG_HOME = xdg;
  emptyHome[Symbol.dispose]();
});

async function walked(tree: Tree, path = ".", ignore = rules): Promise<string[]> {
  using directory = tree.directory(path);
  const entries = await all(walk(directory, { ignore }));
  return entries.filter(entry => entry.kind === "file").map(entry => entry.path);
}

async function searched(tree: Tree, path = ".", ignore = rules): Promise<string[]> {
  using directory = tree.directory(path);
  return (await all(grep(directory, { pattern: "" }, { ignore }))).map(file => file.path);
}

describe("ignore rules", () => {
  it("a random tree is walked and searched as ripgrep lists it and git ignores it", async () => {
    for (let seed = 1; seed <= 25; seed++) {
      const random = chance(seed);
      using tree = new Tree();
      tree.git("init", "-q");
      const paths = plant(tree, random);
      const found = await walked(tree);
      const told = tree.rg([
        "--files",
        "--hidden",
        "--no-require-git",
        "--no-ignore-parent",
        "-g",
        "!.git",
        "-0",
      ]);
      expect(found, `seed ${seed}: ripgrep`).toEqual(byteSorted(listOf(told)));
      const ignored = tree.gitIgnored(paths);
      const kept = paths.filter(path => !ignored.has(path));
      expect(found, `seed ${seed}: git`).toEqual(byteSorted(kept));
      expect(await searched(tree), `seed ${seed}: search`).toEqual(found);
    }
  });

  it("a walk or search that starts further below sees what the whole one sees there", async () => {
    for (let seed = 100; seed <= 120; seed++) {
      const random = chance(seed);
      using tree = new Tree();
      plant(tree, random, { dotIgnore: true });
      const whole = await walked(tree);
      for (const start of ["a", "b", "a/b"]) {
        const below = whole
          .filter(path => path.startsWith(`${start}/`))
          .map(path => path.slice(start.length + 1));
        // A start that is itself ignored shows nothing from above, and what it holds when it is asked for.
        if (below.length === 0) continue;
        expect(await walked(tree, start), `seed ${seed} ${start}: walk`).toEqual(below);
        expect(await searched(tree, start), `seed ${seed} ${start}: search`).toEqual(below);
      }
    }
  });

  it("question marks and classes are about bytes, as for git and ripgrep", async () => {
    using tree = new Tree({
      ".gitignore": "??\n[é]z\ná?c\n",
      ab: "x\n",
      éz: "x\n",
      ábc: "x\n",
      "á.d": "x\n",
    });
    tree.git("init", "-q");
    const expected = [".gitignore", "á.d", "éz"];
    expect(byteSorted(expected.concat([...tree.gitIgnored(["ab", "éz", "ábc", "á.d"])]))).toEqual(
      byteSorted([...expected, "ab", "ábc"]),
    );
    expect(await walked(tree)).toEqual(expected);
    expect(await searched(tree)).toEqual(expected);
  });

  it("stars after the plain start of a path cross directories, as for git", async () => {
    const files = ["ab/c/d/a", "ab/c/d/b", "cd/x/y", "ce/x", "e/x", "ef", "efg/x", "x/ab/c/a"];
    using tree = new Tree({
      ".gitignore": "ab**/a\n/cd**\nc?**/x\nef**/**\n",
      ...Object.fromEntries(files.map(name => [name, "x\n"])),
    });
    tree.git("init", "-q");
    const ignored = tree.gitIgnored(files);
    expect([...ignored].sort()).toEqual(["ab/c/d/a", "cd/x/y", "ce/x", "ef", "efg/x"]);
    const expected = byteSorted([".gitignore", ...files.filter(name => ![...ignored].includes(name))]);
    expect(await walked(tree)).toEqual(expected);
    expect(await searched(tree)).toEqual(expected);
  });

  it("an invalid pattern, and very many lines, do not stop a search in a subdirectory", async () => {
    const many = "another\n".repeat(130_000);
    using tree = new Tree({ ".gitignore": `a\\\n*.log\n${many}`, "sub/a.txt": "x\n", "sub/b.log": "x\n" });
    expect(await walked(tree, "sub")).toEqual(["a.txt"]);
    expect(await searched(tree, "sub")).toEqual(["a.txt"]);
  });

  it.each(["[a\n", "*\n![a\n", "d/[a\n", "cr\r\r\n", "cr \r\t\r\n", "a\\ \r\n", "{a\n", "a\\\n"])(
    "a walk and a search agree about the odd line %j",
    async text => {
      // Many files, so that ripgrep searches and not we.
      const many = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`many/${i}.txt`, "x\n"]));
      using tree = new Tree({
        ...many,
        a: "x\n",
        "a ": "x\n",
        "[a": "x\n",
        "d/[a": "x\n",
        cr: "x\n",
        "cr\r": "x\n",
      });
      tree.git("init", "-q");
      writeFileSync(join(tree.path, ".gitignore"), text);
      expect(await searched(tree)).toEqual(await walked(tree));
    },
  );

  it(".ignore wins over .gitignore, even from a directory above", async () => {
    using tree = new Tree({
      ".ignore": "!keep.log\n",
      "sub/.gitignore": "*.log\n",
      "sub/keep.log": "x\n",
      "sub/drop.log": "x\n",
    });
    expect(await walked(tree)).toEqual([".ignore", "sub/.gitignore", "sub/keep.log"]);
    expect(await searched(tree, "sub")).toEqual([".gitignore", "keep.log"]);
  });

  it("rules apply without a repository, and .git is left out", async () => {
    using tree = new Tree({ ".gitignore": "*.tmp\n", "a.tmp": "x\n", "a.txt": "x\n", ".git/config": "x\n" });
    expect(await walked(tree)).toEqual([".gitignore", "a.txt"]);
    expect(await walked(tree, ".", { rules: false, hidden: true })).toEqual([
      ".git/config",
      ".gitignore",
      "a.tmp",
      "a.txt",
    ]);
  });

  it(".git/info/exclude and the user's own excludes count, the repository's rules before them", async () => {
    using tree = new Tree({
      ".git/info/exclude": "private\n",
      ".gitignore": "!wanted.swp\n",
      private: "x\n",
      "sub/private": "x\n",
      "a.swp": "x\n",
      "wanted.swp": "x\n",
      "sub/b.swp": "x\n",
    });
    mkdirSync(join(emptyHome.path, ".config/git"), { recursive: true });
    writeFileSync(join(emptyHome.path, ".config/git/ignore"), "*.swp\n");
    try {
      expect(await walked(tree)).toEqual([".gitignore", "wanted.swp"]);
      expect(await searched(tree)).toEqual([".gitignore", "wanted.swp"]);
      expect(await searched(tree, "sub")).toEqual([]);
      writeFileSync(join(emptyHome.path, ".gitconfig"), "[core]\n\texcludesFile = ~/mine\n");
      writeFileSync(join(emptyHome.path, "mine"), "/sub\n");
      expect(await walked(tree)).toEqual([".gitignore", "a.swp", "wanted.swp"]);
      expect(await searched(tree)).toEqual([".gitignore", "a.swp", "wanted.swp"]);
      expect(await searched(tree, "sub")).toEqual(["b.swp"]);
    } finally {
      writeFileSync(join(emptyHome.path, ".gitconfig"), "");
      writeFileSync(join(emptyHome.path, ".config/git/ignore"), "");
    }
  });

  it("if the granted root is inside a repository, the rules above it count, as for ripgrep and git there", async () => {
    let hidden = 0;
    for (let seed = 200; seed <= 230; seed++) {
      using tree = new Tree();
      tree.git("init", "-q");
      const paths = plant(tree, chance(seed), { dotIgnore: seed % 2 === 0, nested: false });
      tree.add({ ".git/info/exclude": "deep.*\n" });
      for (const start of ["a", "b", "a/b", "foo"]) {
        if (!existsSync(join(tree.path, start)) || !statSync(join(tree.path, start)).isDirectory()) continue;
        const told = byteSorted(listOf(tree.rg(["--files", "--hidden", "-g", "!.git", "-0"], start)));
        for (const root of [start, "a"]) {
          if (!`${start}/`.startsWith(`${root}/`)) continue;
          const label = `seed ${seed} ${start} in ${root}`;
          using directory = tree.granted(start, root);
          const files = await all(walk(directory, { ignore: rules }));
          expect(pathsOf(files.filter(entry => entry.kind === "file")), `${label}: walk`).toEqual(told);
          const found = await all(grep(directory, { pattern: "" }, { ignore: rules }));
          expect(pathsOf(found), `${label}: search`).toEqual(told);
          const lines = await all(matchLines(directory, { source: "^", flags: "" }, { ignore: rules }));
          expect(pathsOf(lines), `${label}: lines`).toEqual(told);
        }
        const below = paths.filter(path => path.startsWith(`${start}/`));
        const ignored = tree.gitIgnored([...below, `${start}/`]);
        hidden += below.length - told.length;
        if (seed % 2 === 0 || ignored.has(`${start}/`)) continue;
        const kept = below.filter(path => !ignored.has(path)).map(path => path.slice(start.length + 1));
        expect(told, `seed ${seed} ${start}: git`).toEqual(byteSorted(kept));
      }
    }
    expect(hidden).toBeGreaterThan(50);
  });

  it("what a repository above leaves out is not even searched", async () => {
    using tree = new Tree({
      ".git/HEAD": "ref: refs/heads/main\n",
      ".gitignore": "dist/\n/app/notes\n!*.keep\n",
      "app/dist/a.txt": "x\n",
      "app/notes": "x\n",
      "app/b.txt": "x\n",
    });
    using directory = tree.granted("app");
    const search = grep(directory, { pattern: "(x|z)+" }, { ignore: rules, maxFiles: 100 });
    expect(pathsOf(await all(search))).toEqual(["b.txt"]);
    expect(search.report.files).toBe(1);
  });

  it("nothing above the repository is read, nor where the granted root is one itself", async () => {
    using tree = new Tree({
      ".git/HEAD": "ref: refs/heads/main\n",
      "sub/a.txt": "x\n",
      "own/.git/HEAD": "ref: refs/heads/main\n",
      "own/a.log": "x\n",
    });
    writeFileSync(join(tree.path, "../.gitignore"), "*.txt\n");
    writeFileSync(join(tree.path, "../.ignore"), "*.txt\n");
    tree.add({ ".gitignore": "*.log\n" });
    for (const [root, name] of [
      ["sub", "a.txt"],
      ["own", "a.log"],
    ] as const) {
      using directory = tree.granted(root);
      expect(pathsOf(await all(walk(directory, { ignore: rules })))).toEqual([name]);
      expect(pathsOf(await all(grep(directory, { pattern: "x" }, { ignore: rules })))).toEqual([name]);
    }
  });

  it("nothing above a granted root outside a repository is read", async () => {
    using tree = new Tree({ "a.txt": "x\n" });
    writeFileSync(join(tree.path, "../.gitignore"), "*.txt\n");
    writeFileSync(join(tree.path, "../.ignore"), "*.txt\n");
    expect(await walked(tree)).toEqual(["a.txt"]);
    expect(await searched(tree)).toEqual(["a.txt"]);
  });

  it("an ignore file that is a link is ignored, and reads nothing outside", async () => {
    using tree = new Tree({ "a.txt": "x\n" });
    symlinkSync("/etc/passwd", join(tree.path, ".gitignore"));
    expect(await walked(tree)).toEqual(["a.txt"]);
  });

  it("hidden names are left out on request, even if a rule includes them again", async () => {
    using tree = new Tree({
      ".gitignore": "!.env\n",
      ".env": "x\n",
      ".dir/a": "x\n",
      "a/.b": "x\n",
      "a/c": "x\n",
    });
    const shown = { rules: true, hidden: false };
    expect(await walked(tree, ".", shown)).toEqual(["a/c"]);
    expect(await searched(tree, ".", shown)).toEqual(["a/c"]);
  });
});

type Random = ReturnType<typeof chance>;

/** Grows a tree with ignore files at several levels, and nested repositories; gives the paths of its files. */
function plant(tree: Tree, random: Random, { dotIgnore = false, nested = true } = {}): string[] {
  const names = ["a", "b", "foo", "bar.txt", "x.log", "build", ".hid", "node_modules", "deep.tar.gz", "b c"];
  const patterns = [
    ...["*.log", "build", "build/", "/foo", "foo/", "!x.log", "a/b", "/a/*", "!/a/b", "**/bar.txt", "a/**"],
    ...[
      "a/**/foo",
      "*",
      "!*/",
      "!*.txt",
      ".hid",
      "b?c",
      "[ab]",
      "[!ab]*.log",
      "node_modules/",
      "\\!x",
      "# no",
    ],
    ...[
      "deep.*",
      "*.gz",
      "!deep.tar.gz",
      "foo/bar.txt",
      "b\\ c",
      "x.log  ",
      "**/b/**",
      "/*/foo",
      "!build/",
      "",
      "f*o",
    ],
  ];
  const paths: string[] = [];
  const grow = (prefix: string, depth: number): void => {
    for (const name of names) {
      if (!random.often(0.5)) continue;
      const path = prefix + name;
      if (depth < 3 && random.often(0.4)) grow(`${path}/`, depth + 1);
      else paths.push(path);
    }
    const kinds = dotIgnore ? [".gitignore", ".ignore", ".rgignore"] : [".gitignore"];
    for (const kind of kinds) {
      if (!random.often(depth === 0 ? 0.8 : 0.25)) continue;
      const lines = Array.from({ length: 1 + random.below(4) }, () => random.pick(patterns));
      tree.add({ [prefix + kind]: `${lines.join(random.often(0.2) ? "\r\n" : "\n")}\n` });
      paths.push(prefix + kind);
    }
    if (nested && depth > 0 && random.often(0.1))
      tree.add({ [`${prefix}.git/HEAD`]: "ref: refs/heads/main\n" });
  };
  grow("", 0);
  for (const path of paths) if (!/ignore$/.test(path)) tree.add({ [path]: "x\n" });
  return paths;
}

function pathsOf(found: readonly { readonly path: string }[]): string[] {
  return found.map(({ path }) => path);
}

function listOf(bytes: Buffer): string[] {
  return String(bytes).split("\0").filter(Boolean);
}

it("a hundred thousand rules neither stop a search nor hide what later rules include again", async () => {
  using tree = new Tree({ "src/needle.txt": "needle", "top.log": "needle", "src/keep.log": "needle" });
  const many = Array.from({ length: 100_000 }, (_, i) => `zzz${i}*\n`).join("");
  writeFileSync(join(tree.path, ".gitignore"), "*.log\n");
  writeFileSync(join(tree.path, "src/.gitignore"), `!keep.log\n${many}`);
  using directory = tree.directory();
  const found: string[] = [];
  for await (const { path } of grep(directory, { pattern: "needle", literal: true }, { ignore: rules }))
    found.push(path);
  expect(found.sort()).toEqual(["src/keep.log", "src/needle.txt"]);
});
