// JSON with the places of its values: enough to change one of them and leave every other byte as it is.

/** A value, and its range in the text: [start, end). */
export interface Placed {
  readonly start: number;
  readonly end: number;
  readonly value: string | number | boolean | null | readonly Placed[] | ReadonlyMap<string, Placed>;
}

const deepest = 200;

/** Undefined if the text is no JSON. */
export function placedJson(text: string): Placed | undefined {
  try {
    JSON.parse(text);
    return new Scanner(text).value(0);
  } catch {
    return undefined;
  }
}

/** Reads what JSON.parse has accepted already. */
class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): Placed {
    if (depth > deepest) throw new Error("too deep");
    this.#blanks();
    const start = this.#at;
    const char = this.#text[start];
    const value =
      char === "{"
        ? this.#object(depth)
        : char === "["
          ? this.#array(depth)
          : char === '"'
            ? this.#string()
            : this.#plain();
    return { start, end: this.#at, value };
  }

  #blanks(): void {
    while (" \t\n\r".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  #object(depth: number): ReadonlyMap<string, Placed> {
    const found = new Map<string, Placed>();
    this.#at++;
    for (;;) {
      this.#blanks();
      if (this.#text[this.#at] === "}") break;
      if (this.#text[this.#at] === ",") this.#at++;
      this.#blanks();
      const key = this.#string();
      this.#blanks();
      this.#at++; // the colon
      found.set(key, this.value(depth + 1));
    }
    this.#at++;
    return found;
  }

  #array(depth: number): Placed[] {
    const found: Placed[] = [];
    this.#at++;
    for (;;) {
      this.#blanks();
      if (this.#text[this.#at] === "]") break;
      if (this.#text[this.#at] === ",") this.#at++;
      found.push(this.value(depth + 1));
    }
    this.#at++;
    return found;
  }

  #string(): string {
    const start = this.#at;
    for (this.#at++; this.#text[this.#at] !== '"'; this.#at++) if (this.#text[this.#at] === "\\") this.#at++;
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #plain(): number | boolean | null {
    const start = this.#at;
    while (/[^,\]}\s]/.test(this.#text[this.#at] ?? ",")) this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as number | boolean | null;
  }
}
