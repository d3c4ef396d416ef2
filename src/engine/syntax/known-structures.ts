// A cache of parsed structures, by the version of the text, so that naming the symbol around a line costs nothing.
import { type Language, languageOf } from "./language.ts";
import { type Structure, structureOf } from "./structure.ts";
import { isLoaded } from "./thread/thread.ts";

/** Declarations that are kept, of all files together: some 10 MB. */
const mostDeclarations = 50_000;

/** A text with its name, its version and its language. */
export interface VersionedText {
  readonly path: string;
  readonly version: string;
  readonly text: string;
  readonly language: Language;
}

/** Undefined if there is no grammar. */
export function sourceOf(path: string, version: string, text: string): VersionedText | undefined {
  const language = languageOf(path, text);
  return language && { path, version, text, language };
}

export class KnownStructures {
  readonly #kept = new Map<string, Structure>();
  #declarations = 0;

  get(source: VersionedText): Structure | undefined {
    return this.#kept.get(keyOf(source));
  }

  /** Parses it. Undefined if its grammar is not loaded, which takes longer than most answers, unless `load` says so. */
  async parsed(source: VersionedText, load: boolean): Promise<Structure | undefined> {
    return load || isLoaded(source.language.grammar) ? await this.#parse(source) : undefined;
  }

  /** Parses all of them, one after the other, with the grammars that they need loaded first. */
  async prepare(sources: readonly VersionedText[]): Promise<void> {
    for (const source of sources) await this.#parse(source);
  }

  async #parse(source: VersionedText): Promise<Structure> {
    const structure = await structureOf(source.path, source.text, false);
    this.keep(source, structure);
    return structure;
  }

  /** Takes what was parsed for another reason. */
  keep(source: VersionedText, structure: Structure): void {
    const key = keyOf(source);
    if (!this.#kept.has(key)) this.#declarations += structure.declared.length + 1;
    this.#kept.set(key, structure);
    for (const [oldest, { declared }] of this.#kept) {
      if (this.#declarations <= mostDeclarations) break;
      this.#kept.delete(oldest);
      this.#declarations -= declared.length + 1;
    }
  }
}

function keyOf({ version, language: { grammar, markup } }: VersionedText): string {
  return `${grammar} ${markup ?? false} ${version}`;
}
