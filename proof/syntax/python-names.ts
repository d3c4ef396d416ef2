// Renames in Python beside Python itself: programs of several modules are made at random, every name that a module
// declares is renamed in turn, and the program has to print the same as before, unless places were listed.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { usesInFiles } from "../../src/engine/syntax/rename.ts";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";

type Program = ReadonlyMap<string, string>;

const names = ["alpha", "beta", "gamma"];
const modules: ReadonlyMap<string, string> = new Map([
  ["util.py", "util"],
  ["pkg/core.py", "pkg.core"],
  ["pkg/other.py", "pkg.other"],
  ["pkg/sub/deep.py", "pkg.sub.deep"],
  ["pkg/sub/__init__.py", "pkg.sub"],
  ["pkg/__init__.py", "pkg"],
]);

export async function pythonNames(trial: Trial): Promise<void> {
  if (spawnSync("python3", ["--version"]).status !== 0) {
    trial.tally.skipped("python-names", "Python is not installed");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "polyfs-python-names-"));
  const count = { renamed: 0, sure: 0, listed: 0 };
  try {
    for (let i = 0; i < (trial.long ? 60 : 4); i++) {
      const program = programOf(trial.chance);
      const before = printed(folder, program);
      if (before !== undefined) await renameAll(trial, folder, program, before, count);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  trial.say(`python-names: ${count.renamed} renames, ${count.sure} places sure, ${count.listed} listed`);
}

async function renameAll(
  trial: Trial,
  folder: string,
  program: Program,
  before: string,
  count: { renamed: number; sure: number; listed: number },
): Promise<void> {
  const textOf = async (path: string) => program.get(path.slice(folder.length + 1));
  for (const name of names) {
    const files = [...program]
      .filter(([, text]) => text.includes(name))
      .map(([path, text]) => ({ path: join(folder, path), text }));
    const { declared } = await usesInFiles(files, name, undefined, textOf);
    for (const one of declared.filter(({ top, distinct }) => top && distinct)) {
      const at = files[one.file]?.path.slice(folder.length + 1);
      await trial.tally.attempt(`python-names ${at}#${name}`, async () => {
        const choose = (list: typeof declared) =>
          list.find(({ file, start }) => file === one.file && start === one.start);
        const { sure, unsure } = await usesInFiles(files, name, choose, textOf);
        const made = new Map(program);
        for (const [i, { path, text }] of files.entries()) {
          const starts = (sure[i] ?? []).map(({ start }) => start);
          made.set(path.slice(folder.length + 1), withNewName(text, name, starts));
          count.sure += starts.length;
        }
        const listed = unsure.flat().length;
        count.renamed++;
        count.listed += listed;
        const after = printed(folder, made);
        if (after !== before && (listed === 0 || after !== undefined))
          throw new Error(
            `prints ${after ?? "an error"}\n${[...made].map(file => file.join(":\n")).join("\n")}`,
          );
      });
    }
  }
}

function withNewName(text: string, name: string, starts: readonly number[]): string {
  return starts
    .toSorted((a, b) => b - a)
    .reduce((made, start) => `${made.slice(0, start)}renamed${made.slice(start + name.length)}`, text);
}

/** What a program prints; undefined if it fails. */
function printed(folder: string, program: Program): string | undefined {
  rmSync(folder, { recursive: true, force: true });
  for (const [path, text] of program) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const run = spawnSync("python3", ["-S", "-E", "-B", "main.py"], { cwd: folder, encoding: "utf8" });
  return run.status === 0 ? run.stdout : undefined;
}

function programOf(chance: Chance): Program {
  const made = new Map<string, string>();
  const exported = new Map<string, readonly string[]>();
  for (const path of modules.keys()) {
    if (path.endsWith("__init__.py")) continue;
    const own = names.filter(() => chance.below(2) === 0);
    made.set(path, moduleOf(chance, path, own));
    exported.set(path, own);
  }
  const init = (path: string, inner: readonly (readonly [path: string, from: string])[]) => {
    const have: string[] = [];
    let text = "import sys\n";
    for (const [other, from] of inner) {
      const brought = exported.get(other) ?? [];
      const [name] = chance.shuffled(brought);
      const how = chance.below(4);
      if (how === 0 && name !== undefined && !have.includes(name)) {
        text += `from ${from} import ${name}\n`;
        have.push(name);
      } else if (how === 1 && !brought.some(one => have.includes(one))) {
        text += `from ${from} import *\n`;
        have.push(...brought);
      } else if (how === 2 && name !== undefined) text += `from ${from} import ${name} as re_${name}\n`;
    }
    made.set(path, text);
    exported.set(path, have);
  };
  init("pkg/sub/__init__.py", [["pkg/sub/deep.py", ".deep"]]);
  init("pkg/__init__.py", [
    ["pkg/core.py", chance.pick([".core", "pkg.core"])],
    ["pkg/sub/__init__.py", ".sub"],
    ["pkg/other.py", ".other"],
  ]);
  made.set("pkg/user.py", userOf(chance, "pkg/user.py", exported));
  const calls =
    "for m in (pkg.core, pkg.other, pkg.sub.deep, util):\n    for k, v in sorted(vars(m).items()):\n        if k.startswith(('use_', 'set_')): out.append(v())\n";
  made.set(
    "main.py",
    `${userOf(chance, "main.py", exported)}import pkg.user, pkg.core, pkg.other, pkg.sub.deep, util\n${calls}print(out, pkg.user.out)\n`,
  );
  // A plain directory of the package's name gives way to the package, also where it is first on the path.
  if (chance.below(3) === 0) {
    made.set("lib/pkg/extra.py", `${chance.pick(names)} = 1\n`);
    if (chance.below(2) === 0)
      made.set("main.py", `import sys\nsys.path.insert(0, "lib")\n${made.get("main.py")}`);
  }
  return made;
}

/** A module that declares some names, uses them, and binds others of the same name in its functions. */
function moduleOf(chance: Chance, path: string, own: readonly string[]): string {
  const parts = [chance.pick(["", '"""About alpha and beta."""'])];
  if (chance.below(4) === 0) parts.push(`__all__ = [${own.map(name => `"${name}"`).join(", ")}]`);
  for (const name of own)
    parts.push(
      chance.pick([
        `def ${name}(x=1):\n    return ("${path}", x)`,
        `class ${name}:\n    def __repr__(self): return "${path}"\n    def other(self, ${name}=1): return ${name}`,
        `${name} = lambda x=1: ("${path}", x)`,
      ]),
    );
  for (const name of names) {
    if (chance.below(3) > 0) continue;
    const parameter = chance.pick(["y", name, `*${name}`, `y, ${name}=2`]);
    parts.push(
      `def local_${name}(${parameter}):\n    ${name} = 3\n    return [${name} for ${name} in [${name}]]`,
    );
  }
  for (const name of own) {
    if (chance.below(2) === 0) parts.push(`def use_${name}():\n    return repr(${name}())`);
    if (chance.below(4) === 0)
      parts.push(`def set_${name}():\n    global ${name}\n    ${name} = ${name}\n    return len([${name}])`);
  }
  return `${parts.join("\n\n")}\n`;
}

/** A module that imports names in all ways, and calls them. */
function userOf(chance: Chance, path: string, exported: ReadonlyMap<string, readonly string[]>): string {
  const lines = ["out = []"];
  const bound = new Set<string>();
  for (const [other, brought] of exported)
    for (const [i, name] of brought.entries()) {
      const module = modules.get(other) ?? "";
      const isInside = path.startsWith("pkg/") && module.startsWith("pkg");
      const from = isInside && chance.below(2) === 0 ? `.${module.slice(4)}` : module;
      const own = `${module.replaceAll(".", "_")}${i}`;
      const [above, last] = [module.slice(0, Math.max(0, module.lastIndexOf("."))), module.split(".").at(-1)];
      const ways = [
        ...(bound.has(name) ? [] : [`from ${from} import ${name}\nout.append(repr(${name}()))`]),
        `from ${from} import ${name} as a_${own}\nout.append(repr(a_${own}()))`,
        `import ${module}\nout.append(repr(${module}.${name}()))`,
        `import ${module} as m_${own}\nout.append(repr(m_${own}.${name}()))`,
        `def f_${own}():\n    from ${from} import ${name}\n    return [${name}() for _ in range(2)]\nout.append(repr(f_${own}()))`,
        `def g_${own}(${name}=1):\n    return ${name} + len([${name} for ${name} in range(3)])\nout.append(g_${own}(${name}=2))`,
        ...(above === ""
          ? []
          : [`from ${above} import ${last} as q_${own}\nout.append(repr(q_${own}.${name}()))`]),
        "",
      ];
      const way = chance.pick(ways);
      if (way.startsWith(`from ${from} import ${name}\n`)) bound.add(name);
      lines.push(way);
    }
  return `${lines.join("\n")}\n`;
}
