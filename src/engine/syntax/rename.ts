// Which occurrences of a name mean the same symbol, across files. Only certain ones count; two symbols of the same
// name are never separated by a guess.
import { languageOf, parsedPart } from "./language.ts";
import type { NameUse } from "./thread/messages.ts";
import { ask } from "./thread/thread.ts";

export interface NamedFile {
  /** Absolute, or any path by which relative imports can be followed. */
  readonly path: string;
  readonly text: string;
}

export interface Occurrence {
  readonly start: number;
  /** `{ name }`, which becomes `{ name: other }`. */
  readonly shorthand: boolean;
}

export interface NamedUses {
  /** By file, in the order of the files. */
  readonly sure: readonly (readonly Occurrence[])[];
  readonly unsure: readonly (readonly number[])[];
  /** The declarations of the name: with more than one, nothing is certain. */
  readonly declared: readonly { readonly file: number; readonly start: number }[];
}

interface Use extends NameUse {
  readonly file: number;
}

const maxMs = 2000;

export async function usesInFiles(files: readonly NamedFile[], name: string): Promise<NamedUses> {
  const uses: Use[] = [];
  const scripts = new Set<number>();
  for (const [file, { path, text }] of files.entries()) {
    const language = languageOf(path, text);
    if (language === undefined) continue;
    const found = await ask({ grammar: language.grammar, text: parsedPart(text, language), maxMs, name });
    if (/script$|^tsx$/.test(language.grammar)) scripts.add(file);
    uses.push(...(found?.uses ?? []).map(use => ({ ...use, file })));
  }
  const things = new Things(files, uses, scripts);
  return things.found();
}

class Things {
  readonly #files: readonly NamedFile[];
  readonly #uses: readonly Use[];
  readonly #scripts: ReadonlySet<number>;

  constructor(files: readonly NamedFile[], uses: readonly Use[], scripts: ReadonlySet<number>) {
    this.#files = files;
    this.#uses = uses;
    this.#scripts = scripts;
  }

  found(): NamedUses {
    const declaring = this.#uses.filter(use => this.#declares(use));
    const keys = new Set(declaring.map(use => this.#thingOf(use)));
    const isOne = keys.size === 1 && declaring.every(use => use.role !== "unclear");
    const [target] = keys;
    const isSure = (use: Use) => isOne && use.role !== "unclear" && this.#thingOf(use) === target;
    const by = (wanted: boolean) =>
      this.#files.map((_, file) => this.#uses.filter(use => use.file === file && isSure(use) === wanted));
    return {
      sure: by(true).map(list => list.map(({ start, shorthand = false }) => ({ start, shorthand }))),
      unsure: by(false).map(list => list.map(({ start }) => start)),
      declared: firstOfEach(declaring, use => this.#thingOf(use)).map(({ file, start }) => ({ file, start })),
    };
  }

  /** Whether something is made here, and not only brought in from elsewhere. */
  #declares(use: Use): boolean {
    return use.binds && use.from === undefined;
  }

  /** A key that is equal for uses of the same symbol. */
  #thingOf(use: Use): string {
    const { file, role, start } = use;
    const alone = `${file}:at ${start}`;
    if (!this.#scripts.has(file)) {
      if (role !== "variable") return alone;
      return use.binds && !use.top ? alone : `${file}:top`;
    }
    if (role === "member") return use.own && use.scope !== undefined ? `${file}:member ${use.scope}` : alone;
    if (role === "unclear") return alone;
    if (use.from !== undefined) return this.#exportOf(this.#resolved(file, use.from)) ?? alone;
    return role === "variable" && use.scope !== undefined ? `${file}:${use.scope}` : alone;
  }

  /** The symbol that a module calls by this name. */
  #exportOf(file: number | undefined, steps = 0): string | undefined {
    if (file === undefined || steps > 20) return undefined;
    const inside = this.#uses.filter(use => use.file === file);
    const top = inside.find(use => use.role === "variable" && use.top && use.binds);
    if (top !== undefined)
      return top.from === undefined
        ? `${file}:${top.scope}`
        : this.#exportOf(this.#resolved(file, top.from), steps + 1);
    const passed = inside.find(use => use.role === "outside" && use.binds && use.from !== undefined);
    return passed?.from === undefined
      ? undefined
      : this.#exportOf(this.#resolved(file, passed.from), steps + 1);
  }

  /** The file that a relative import leads to, if it is one of these. */
  #resolved(from: number, specifier: string): number | undefined {
    if (!/^\.\.?\//.test(specifier)) return undefined;
    const here = (this.#files[from]?.path ?? "").split("/").slice(0, -1);
    for (const step of specifier.split("/")) {
      if (step === "..") here.pop();
      else if (step !== ".") here.push(step);
    }
    const wanted = here.join("/");
    const bare = wanted.replace(/\.(c|m)?jsx?$/, "");
    const endings = ["", ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs"];
    const candidates = [
      wanted,
      ...[bare, wanted, `${wanted}/index`].flatMap(one => endings.map(end => one + end)),
    ];
    for (const candidate of candidates) {
      const at = this.#files.findIndex(({ path }) => path === candidate);
      if (at >= 0) return at;
    }
    return undefined;
  }
}

function firstOfEach<T>(list: readonly T[], keyOf: (one: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const one of list) if (!seen.has(keyOf(one))) seen.set(keyOf(one), one);
  return [...seen.values()];
}
