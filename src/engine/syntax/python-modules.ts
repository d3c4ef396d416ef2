// Which file a module of Python is, as far as that is certain: it depends on where the program is started, on what the
// packages on the way make of the name, and on modules that are installed.

import type { NamedFile } from "./named-file.ts";
import { standardModules } from "./python-standard.ts";

/** The text of a file that need not hold the name; undefined if there is none. */
export type TextOf = (path: string) => Promise<string | undefined>;

/** Directories below the one that a program is started in, which often hold its packages. */
const sourceFolders = ["", "/src", "/lib", "/python"];
const star = /^from[ \t]+([.\w]+)[ \t]+import[ \t]*\(?[ \t]*\*/gm;
const mostSteps = 20;

/** What an import says: `from`, and how it leads there. */
interface Import {
  readonly from: string;
  readonly attribute?: boolean;
  readonly starred?: boolean;
}

export class PythonModules {
  readonly #files: readonly NamedFile[];
  readonly #name: string;
  /** Whether a file binds the name itself, by its index. */
  readonly #binds: (file: number) => boolean;
  readonly #textOf: TextOf;
  readonly #texts = new Map<string, Promise<string | undefined>>();
  readonly #indexes: ReadonlyMap<string, number>;

  constructor(files: readonly NamedFile[], name: string, binds: (file: number) => boolean, textOf: TextOf) {
    this.#files = files;
    this.#name = name;
    this.#binds = binds;
    this.#textOf = textOf;
    this.#indexes = new Map(files.map(({ path }, i) => [path, i]));
  }

  /** The file from which an import has the name; undefined if that is not certain. */
  async fileOf(importer: number, { from, attribute, starred }: Import): Promise<number | undefined> {
    const place = await this.#placeOf(this.#files[importer]?.path ?? "", from);
    if (place === undefined || (attribute && !(await this.#isReached(place)))) return undefined;
    const module = await this.#moduleAt(place);
    if (module === undefined || (starred && !(await this.#isStarred(module)))) return undefined;
    return this.#home(module, 0);
  }

  /** The directory where the search for a module begins, and the names below it. */
  async #placeOf(importer: string, from: string): Promise<ModulePlace | undefined> {
    const dots = /^\.*/.exec(from)?.[0].length ?? 0;
    const names = from.slice(dots).split(".").filter(Boolean);
    const folders = importer.split("/").slice(0, -1);
    if (dots > 0) {
      const base = folders.slice(0, folders.length - dots + 1);
      return base.length === 0 ? undefined : { base: base.join("/"), names };
    }
    const [first = ""] = names;
    if (standardModules.has(first)) return undefined;
    const bases: string[] = [];
    for (let depth = folders.length; depth > 0; depth--) {
      const folder = folders.slice(0, depth).join("/");
      if ((await this.#text(`${folder}/__init__.py`)) !== undefined) continue; // a package is not where imports begin
      for (const below of sourceFolders) {
        const base = folder + below;
        if (!bases.includes(base) && (await this.#holds(base, first))) bases.push(base);
      }
    }
    const [base, ...others] = bases.length > 1 ? await this.#withoutPlainFolders(bases, first, names) : bases;
    return base === undefined || others.length > 0 ? undefined : { base, names };
  }

  /** A directory without `__init__.py` gives way to a package or module of its name, unless it has the whole path. */
  async #withoutPlainFolders(
    bases: readonly string[],
    first: string,
    names: readonly string[],
  ): Promise<string[]> {
    const kept: string[] = [];
    for (const base of bases)
      if ((await this.#moduleAt({ base, names: [first] })) ?? (await this.#moduleAt({ base, names })))
        kept.push(base);
    return kept;
  }

  async #holds(folder: string, name: string): Promise<boolean> {
    const inside = `${folder}/${name}/`;
    if (this.#files.some(({ path }) => path.startsWith(inside) && path.endsWith(".py"))) return true;
    return (await this.#moduleAt({ base: folder, names: [name] })) !== undefined;
  }

  /** The path of a module: a package comes before a file of the same name. */
  async #moduleAt({ base, names }: ModulePlace): Promise<string | undefined> {
    const path = [base, ...names].join("/");
    for (const candidate of names.length === 0
      ? [`${path}/__init__.py`]
      : [`${path}/__init__.py`, `${path}.py`])
      if ((await this.#text(candidate)) !== undefined) return candidate;
    return undefined;
  }

  /** Whether `a.b.c` is the module of that path: `a` may call something else `b`. */
  async #isReached({ base, names }: ModulePlace): Promise<boolean> {
    for (const [i, name] of names.entries()) {
      const folder = [base, ...names.slice(0, i)].join("/");
      const text = (await this.#text(`${folder}/__init__.py`)) ?? "";
      const paths = new RegExp(`\\bfrom[ \\t]+[.\\w]*\\b${name}[ \\t]+import\\b`, "g");
      const own = /^from[ \t]+\.[ \t]+import[ \t]+[\w \t,]+$/gm;
      const others = text.replace(paths, "").replace(own, "");
      if (new RegExp(`\\b${name}\\b`).test(others) || text.search(star) >= 0) return false;
    }
    return true;
  }

  /** Whether `from module import *` brings the name. */
  async #isStarred(module: string): Promise<boolean> {
    const text = (await this.#text(module)) ?? "";
    if (!/\b__all__\b/.test(text)) return !this.#name.startsWith("_");
    return text.includes(`"${this.#name}"`) || text.includes(`'${this.#name}'`);
  }

  /** The file that a module has the name from: itself, or the one module of a `from m import *` that brings it. */
  async #home(module: string, steps: number): Promise<number | undefined> {
    const index = this.#indexes.get(module);
    if (index !== undefined && this.#binds(index)) return index;
    const text = await this.#text(module);
    if (text === undefined || steps > mostSteps) return undefined;
    const found = new Set<number>();
    for (const [, from = ""] of text.matchAll(star)) {
      const place = await this.#placeOf(module, from);
      const next = place && (await this.#moduleAt(place));
      if (next === undefined) return undefined;
      const home = (await this.#isStarred(next)) ? await this.#home(next, steps + 1) : undefined;
      if (home !== undefined) found.add(home);
    }
    return found.size === 1 ? [...found][0] : undefined;
  }

  #text(path: string): Promise<string | undefined> {
    const index = this.#indexes.get(path);
    if (index !== undefined) return Promise.resolve(this.#files[index]?.text);
    const known = this.#texts.get(path) ?? this.#textOf(path);
    this.#texts.set(path, known);
    return known;
  }
}

interface ModulePlace {
  readonly base: string;
  readonly names: readonly string[];
}
