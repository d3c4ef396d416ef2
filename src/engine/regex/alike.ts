// An expression in Rust's syntax as one that means the same to JavaScript's engine, line by line on bytes; for the
// part of the syntax of which that is certain. What depends on the characters beyond ASCII, or on CR, is marked, and
// holds only where there are none. What could take long by going back and forth is refused, or gets a limit.

export interface Alike {
  /** For the flags `gm`, and `i` where case does not count. It never matches nothing, and no line break. */
  readonly source: string;
  readonly ignoreCase: boolean;
  /** Holds only for ASCII without CR. */
  readonly delicate: boolean;
  /** How many ways there are to try a match at one place, for each choice of how often what is open is repeated. */
  readonly ways: number;
  /** How much of it may be repeated without end. */
  readonly open: number;
  /** How many characters one of these ways leads through at most, what is open counted once. */
  readonly length: number;
}

interface Part {
  readonly source: string;
  /** The fewest bytes that it takes. */
  readonly least: number;
  /** Ways to go through it, without repetition that is open, and how many of those there are. */
  readonly ways: number;
  readonly open: number;
  /** The most atoms on one way through it. */
  readonly length: number;
}

const longest = 1000;
const deepest = 20;
const mostTimes = 100;

/** Undefined where it is not certain that there is one. */
export function alike(pattern: string, ignoreCase: boolean): Alike | undefined {
  const opening = pattern.startsWith("(?i)") ? 4 : 0;
  if (pattern.length > longest) return undefined;
  const reader = new Reader(pattern, opening);
  const part = reader.alternatives(0);
  if (part === undefined || !reader.isAtEnd || part.least === 0) return undefined;
  const folds = ignoreCase || opening > 0;
  const { source, ways, open, length } = part;
  return { source, ignoreCase: folds, delicate: reader.delicate || folds, ways, open, length };
}

class Reader {
  readonly #pattern: string;
  #at: number;
  delicate = false;

  constructor(pattern: string, from: number) {
    this.#pattern = pattern;
    this.#at = from;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#pattern.length;
  }

  alternatives(depth: number): Part | undefined {
    const parts: Part[] = [];
    do {
      const part = depth > deepest ? undefined : this.#sequence(depth);
      if (part === undefined) return undefined;
      parts.push(part);
    } while (this.#take(/\|/y) !== undefined);
    const [only] = parts;
    if (parts.length === 1) return only;
    return {
      source: parts.map(part => part.source).join("|"),
      least: Math.min(...parts.map(part => part.least)),
      ways: parts.reduce((sum, part) => sum + part.ways, 0),
      open: Math.max(...parts.map(part => part.open)),
      length: Math.max(...parts.map(part => part.length)),
    };
  }

  #sequence(depth: number): Part | undefined {
    let whole: Part = { source: "", least: 0, ways: 1, open: 0, length: 0 };
    while (!this.isAtEnd && this.#peek(/[|)]/y) === undefined) {
      const atom = this.#atom(depth);
      const part = atom && this.#repeated(atom);
      if (part === undefined) return undefined;
      whole = {
        source: whole.source + part.source,
        least: whole.least + part.least,
        ways: whole.ways * part.ways,
        open: whole.open + part.open,
        length: whole.length + part.length,
      };
    }
    return whole;
  }

  #atom(depth: number): Part | undefined {
    if (this.#take(/\((?:\?:)?(?!\?)/y) !== undefined) {
      const inside = this.alternatives(depth + 1);
      if (inside === undefined || this.#take(/\)/y) === undefined) return undefined;
      return { ...inside, source: `(?:${inside.source})` };
    }
    const plain = this.#take(/[\t !"#%&',/0-9:;<=>@A-Z_`a-z~-]|\\[!-/:;=?@[\\\]^_`{|}~]/y);
    if (plain !== undefined) return one(escaped(plain.slice(-1)));
    const special = this.#take(/[.^$]|\\[dDwWsSbB]/y);
    if (special !== undefined) return this.#special(special);
    return this.#class();
  }

  #special(written: string): Part {
    this.delicate = true;
    const zero = /^([$^]|\\b)$/i.test(written);
    return { ...one(delicateForms[written] ?? written), least: zero ? 0 : 1 };
  }

  #class(): Part | undefined {
    const opening = this.#take(/\[(?:\^(?!\])|(?![\]^]))/y);
    if (opening === undefined) return undefined;
    let source = opening;
    while (this.#take(/\]/y) === undefined) {
      const member = this.#member();
      if (member === undefined) return undefined;
      source += member;
    }
    if (opening === "[^") this.delicate = true;
    return one(`${source}${opening === "[^" ? "\\n\\r" : ""}]`);
  }

  #member(): string | undefined {
    const range = this.#take(/[0-9]-[0-9]|[A-Z]-[A-Z]|[a-z]-[a-z]/y);
    if (range !== undefined) return range.charCodeAt(0) <= range.charCodeAt(2) ? range : undefined;
    const set = this.#take(/\\[dws](?!-[^\]])/y);
    if (set !== undefined) {
      this.delicate = true;
      return set === "\\s" ? "\\t\\v\\f " : set;
    }
    const plain = this.#take(
      /(?:[\t !"#%'()*+,./0-9:;<=>?@A-Z^_`a-z{|}$]|\\[!-/:;=?@[\\\]^_`{|}~])(?!-[^\]])|-(?=\])/y,
    );
    return plain && escaped(plain.slice(-1));
  }

  #repeated(part: Part): Part | undefined {
    const written = this.#take(/(?:[*+?]|\{\d{1,3}(?:,\d{0,3})?\})\??/y);
    if (written === undefined) return part;
    if (this.#peek(/[*+?{]/y) !== undefined || part.least === 0) return undefined;
    const [, from = "0", comma, to] = /^\{(\d+)(,?)(\d*)/.exec(written) ?? [];
    const least = written.startsWith("+") ? 1 : Number(from);
    const isOpen = /^[*+]/.test(written) || (comma === "," && to === "");
    const most = written.startsWith("?") ? 1 : comma === "," ? Number(to) : least;
    if (!isOpen && (most < least || most > mostTimes || most === 0)) return undefined;
    // Repetition in repetition can take for ever, and so can choices in it.
    if ((part.ways > 1 || part.open > 0) && written !== "?" && written !== "??") return undefined;
    return {
      source: part.source + written,
      least: part.least * least,
      ways: isOpen ? part.ways : part.ways * (most - least + 1),
      open: part.open + (isOpen ? 1 : 0),
      length: part.length * (isOpen ? Math.max(least, 1) : most),
    };
  }

  #peek(form: RegExp): string | undefined {
    form.lastIndex = this.#at;
    return form.exec(this.#pattern)?.[0];
  }

  #take(form: RegExp): string | undefined {
    const taken = this.#peek(form);
    this.#at += taken?.length ?? 0;
    return taken;
  }
}

const delicateForms: Readonly<Record<string, string>> = {
  ".": "[^\\n\\r]",
  "\\D": "[^\\d\\n\\r]",
  "\\W": "[^\\w\\n\\r]",
  "\\s": "[\\t\\v\\f ]",
};

function one(source: string): Part {
  return { source, least: 1, ways: 1, open: 0, length: 1 };
}

function escaped(char: string): string {
  return /[\\^$.*+?()[\]{}|/-]/.test(char) ? `\\${char}` : char;
}
