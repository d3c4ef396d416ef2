// Which occurrences of a name mean the same symbol, across files. Only certain ones count; two symbols of the same
// name are never separated by a guess.
import { append } from "../append.ts";
import { languageOf, parsedPart } from "./language.ts";
import type { NamedFile } from "./named-file.ts";
import { isSharedInPhp } from "./php-kinds.ts";
import { PythonModules, type TextOf } from "./python-modules.ts";
import type { NameUse } from "./thread/messages.ts";
import { ask } from "./thread/thread.ts";

export interface Occurrence {
  readonly start: number;
  /** `{ name }`, which becomes `{ name: other }`. */
  readonly shorthand: boolean;
}

export interface NamedUses {
  /** By file, in the order of the files. */
  readonly sure: readonly (readonly Occurrence[])[];
  readonly unsure: readonly (readonly number[])[];
  /** The symbols of the name, each by one declaration. With more than one, nothing is certain unless one is chosen. */
  readonly declared: readonly DeclaredName[];
  /** Renamed members of a class that extends or implements something these files do not show. */
  readonly heirs: readonly NonNullable<NameUse["heir"]>[];
}

export interface DeclaredName {
  readonly file: number;
  readonly start: number;
  /** Equal for declarations of the same symbol. */
  readonly symbol: string;
  /** Of the file itself, and not of something in it. */
  readonly top: boolean;
  /** Whether its uses can be distinguished from those of other symbols of this name. */
  readonly distinct: boolean;
}

/** Chooses one of several symbols by one of its declarations. */
export type Choice = (declarations: readonly DeclaredName[]) => DeclaredName | undefined;

interface Use extends NameUse {
  readonly file: number;
  /** In Python, the file that has what is imported. */
  readonly module?: number | undefined;
}

const maxMs = 2000;

export async function usesInFiles(
  files: readonly NamedFile[],
  name: string,
  choose: Choice = () => undefined,
  textOf: TextOf = async () => undefined,
): Promise<NamedUses> {
  const uses: Use[] = [];
  const scoped = new Set<number>();
  for (const [file, { path, text }] of files.entries()) {
    const language = languageOf(path, text);
    if (language === undefined) continue;
    const found = await ask({ grammar: language.grammar, text: parsedPart(text, language), maxMs, name });
    if (/script$|^tsx$|^python$/.test(language.grammar)) scoped.add(file);
    const inFile = found?.uses ?? [];
    // A declaration in a stub exists elsewhere, too.
    const isMixed =
      path.endsWith(".pyi") || (language.grammar === "php" && isSharedInPhp(inFile, text, name));
    append(
      uses,
      inFile.map(use => ({ ...use, file, ...(isMixed && { role: "unclear" as const }) })),
    );
  }
  const things = new Things(files, await inModules(files, uses, name, textOf), scoped, name);
  return things.found(choose);
}

/** Where the imports of Python lead. */
async function inModules(
  files: readonly NamedFile[],
  uses: readonly Use[],
  name: string,
  textOf: TextOf,
): Promise<Use[]> {
  const isBound = new Set(uses.filter(({ top, binds }) => top && binds).map(({ file }) => file));
  const modules = new PythonModules(files, name, file => isBound.has(file), textOf);
  const made: Use[] = [];
  for (const use of uses) {
    const { file, from } = use;
    const isImported = from !== undefined && isPython(files[file]);
    made.push(isImported ? { ...use, module: await modules.fileOf(file, { ...use, from }) } : use);
  }
  return made;
}

class Things {
  readonly #files: readonly NamedFile[];
  readonly #uses: readonly Use[];
  readonly #scoped: ReadonlySet<number>;
  /** Where the names of a file are declared for: its Go or Java package, or only the file. */
  readonly #units: readonly string[];
  /** By file: the Java package that the name is imported from, and where. */
  readonly #imports: readonly (JavaImports | undefined)[];

  constructor(files: readonly NamedFile[], uses: readonly Use[], scoped: ReadonlySet<number>, name: string) {
    this.#units = files.map((file, i) => goPackage(file) ?? javaPackage(file) ?? `${i}`);
    this.#imports = files.map(file => javaImports(file, name));
    this.#files = files;
    this.#uses = uses;
    this.#scoped = scoped;
  }

  found(choose: Choice): NamedUses {
    const declaring = this.#uses.filter(use => this.#declares(use));
    const keys = new Set(declaring.map(use => this.#thingOf(use)));
    const named = (use: Use): DeclaredName => {
      const { file, start, top = false } = use;
      return { file, start, symbol: this.#thingOf(use), top, distinct: this.#isDistinct(use, declaring) };
    };
    const chosen = choose(declaring.map(named));
    const by = declaring.find(use => use.file === chosen?.file && use.start === chosen.start);
    const isOne = keys.size === 1 && declaring.every(use => use.role !== "unclear");
    const [only] = keys;
    const target = by !== undefined && by.role !== "unclear" ? this.#thingOf(by) : isOne ? only : undefined;
    const isSure = (use: Use) => use.role !== "unclear" && this.#thingOf(use) === target;
    // A place that certainly belongs to another declaration is not listed.
    const isUnsure = (use: Use) => !isSure(use) && !(by !== undefined && this.#isOther(use, by, keys));
    const inFiles = (wanted: (use: Use) => boolean) =>
      this.#files.map((_, file) => this.#uses.filter(use => use.file === file && wanted(use)));
    return {
      sure: inFiles(isSure).map(list => list.map(({ start, shorthand = false }) => ({ start, shorthand }))),
      unsure: inFiles(isUnsure).map(list => list.map(({ start }) => start)),
      declared: firstOfEach(declaring, use => this.#thingOf(use)).map(named),
      heirs: this.#uses.filter(isSure).flatMap(({ heir }) => heir ?? []),
    };
  }

  /** Whether a use certainly means another symbol than a declaration. */
  #isOther(use: Use, by: Use, keys: ReadonlySet<string>): boolean {
    if (use.role === "unclear" || !keys.has(this.#thingOf(use))) return false;
    // Where classes are not followed, one method may override the other.
    if (!this.#scoped.has(by.file)) return !(isNested(use) && isNested(by));
    if (by.role !== "member") return true;
    // `{ name }` is also the member, and classes and interfaces may have a member in common.
    if (use.shorthand) return false;
    return use.role !== "member" || ![use, by].some(one => this.#mayBeInherited(one));
  }

  #mayBeInherited(use: Use): boolean {
    if (!use.own) return true;
    const key = this.#thingOf(use);
    return this.#uses.some(other => other.heir !== undefined && this.#thingOf(other) === key);
  }

  /**
   * Where scopes are not known, two symbols of one file or package cannot be distinguished; nor can members of Python's
   * classes, whose uses do not tell the class.
   */
  #isDistinct(use: Use, declaring: readonly Use[]): boolean {
    if (use.role === "unclear") return false;
    const isMember = use.role === "member" && isPython(this.#files[use.file]);
    if (this.#scoped.has(use.file) && !isMember) return true;
    const key = this.#thingOf(use);
    const unit = this.#units[use.file];
    return declaring.every(other => this.#units[other.file] !== unit || this.#thingOf(other) === key);
  }

  /** Whether something is made here, and not only brought in from elsewhere. */
  #declares(use: Use): boolean {
    return use.binds && use.from === undefined;
  }

  /** A key that is equal for uses of the same symbol. */
  #thingOf(use: Use): string {
    const { file, role, start } = use;
    const alone = `${file}:at ${start}`;
    if (!this.#scoped.has(file)) {
      const { from, places } = this.#imports[file] ?? {};
      const named = places?.get(start);
      if (named !== undefined) return `${named}:top`;
      if (role !== "variable" || (use.binds && !use.top)) return alone;
      if (from === undefined || use.binds) return `${this.#units[file]}:top`;
      // A local of that name hides the import, and where is not known.
      const isHidden = this.#uses.some(other => other.file === file && other.binds);
      return isHidden ? alone : `${from}:top`;
    }
    if (role === "member") return use.own && use.scope !== undefined ? `${file}:member ${use.scope}` : alone;
    if (role === "unclear") return alone;
    if (use.from !== undefined) return this.#exportOf(this.#moduleOf(use)) ?? alone;
    return role === "variable" && use.scope !== undefined ? `${file}:${use.scope}` : alone;
  }

  /** The symbol that a module calls by this name. */
  #exportOf(file: number | undefined, steps = 0): string | undefined {
    if (file === undefined || steps > 20) return undefined;
    const inside = this.#uses.filter(use => use.file === file);
    const top = inside.find(use => use.role === "variable" && use.top && use.binds);
    if (top !== undefined)
      return top.from === undefined ? `${file}:${top.scope}` : this.#exportOf(this.#moduleOf(top), steps + 1);
    const passed = inside.find(use => use.role === "outside" && use.binds && use.from !== undefined);
    return passed?.from === undefined ? undefined : this.#exportOf(this.#moduleOf(passed), steps + 1);
  }

  /** The file that an import leads to, if it is one of these. */
  #moduleOf({ file: from, from: specifier = "", module }: Use): number | undefined {
    if (module !== undefined || isPython(this.#files[from])) return module;
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

function isPython(file: NamedFile | undefined): boolean {
  return file !== undefined && languageOf(file.path, file.text)?.grammar === "python";
}

/** Declared inside something else, as a method is. */
function isNested({ binds, top = false }: NameUse): boolean {
  return binds && !top;
}

/** The files of a directory with the same `package` clause share their names. */
function goPackage({ path, text }: NamedFile): string | undefined {
  if (!path.endsWith(".go")) return undefined;
  const name = /^package[ \t]+(\w+)/m.exec(text)?.[1];
  return name && `${path.slice(0, path.lastIndexOf("/"))} ${name}`;
}

/** The classes of a Java package see each other, in whatever directory they are. */
function javaPackage({ path, text }: NamedFile): string | undefined {
  if (!path.endsWith(".java")) return undefined;
  return `java ${/^package[ \t]+([\w.]+)[ \t]*;/m.exec(text)?.[1] ?? ""}`;
}

interface JavaImports {
  /** What the name alone means in this file, if it is imported. */
  readonly from?: string;
  /** The package by the offset of the name in an `import`. */
  readonly places: ReadonlyMap<number, string>;
}

function javaImports({ path, text }: NamedFile, name: string): JavaImports | undefined {
  if (!path.endsWith(".java")) return undefined;
  const places = new Map<number, string>();
  let from: string | undefined;
  const plain = name.replaceAll("$", "\\$");
  const imports = new RegExp(
    `^(import[ \\t]+(static[ \\t]+)?([\\w.]+)\\.)${plain}(\\.[\\w.*]+)?[ \\t]*;`,
    "gm",
  );
  for (const { 1: before = "", 2: isStatic, 3: within = "", 4: member, index } of text.matchAll(imports)) {
    if (isStatic !== undefined && member === undefined)
      from = `java static ${within}`; // a method or a field
    else {
      places.set(index + before.length, `java ${within}`);
      if (member === undefined) from = `java ${within}`;
    }
  }
  return { places, ...(from !== undefined && { from }) };
}

function firstOfEach<T>(list: readonly T[], keyOf: (one: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const one of list) if (!seen.has(keyOf(one))) seen.set(keyOf(one), one);
  return [...seen.values()];
}
