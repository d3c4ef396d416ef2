// Tells by the last two characters of a name that no rule can be about it. That holds for most names, and then no rule
// has to be tried. A name that a rule is about is never missed.

export class NameEndings {
  /** The last two characters, or the last one if a rule names no more. */
  readonly #known = new Set<number>();
  #isAny = false;

  /** A rule is about names that end with `text`, or paths that do. "" is all of them. */
  add(text: string): void {
    const last = text.charCodeAt(text.length - 1);
    const before = text.charCodeAt(text.length - 2);
    if (!(last < 128)) this.#isAny = true;
    else this.#known.add(before < 128 && before !== slash ? pair(before, last) : last);
  }

  /** The same in upper and lower case. `text` is in lower case. */
  addAnyCase(text: string): void {
    const [last, before] = [text.slice(-1), text.slice(-2, -1)];
    for (const one of [last, last.toUpperCase()])
      for (const other of [before, before.toUpperCase()]) this.add(other + one);
  }

  addAll(others: NameEndings): void {
    for (const key of others.#known) this.#known.add(key);
    this.#isAny ||= others.#isAny;
  }

  /** Whether a rule may be about a name, which is in its written form. */
  mayHave(name: string): boolean {
    const { length } = name;
    const last = name.charCodeAt(length - 1);
    const before = name.charCodeAt(length - 2);
    if (this.#isAny || !(last < 128) || this.#known.has(last)) return true;
    if (!(before < 128)) return length > 1;
    // An escaped byte takes four characters, and may be one of the last two.
    if (name.charCodeAt(length - 4) === backslash || name.charCodeAt(length - 5) === backslash) return true;
    return this.#known.has(pair(before, last));
  }
}

const slash = 47;
const backslash = 92;

function pair(before: number, last: number): number {
  return ((before + 1) << 7) | last;
}
