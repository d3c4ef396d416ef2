// JSON with positions, comments and commas included, so that one member can be added, changed or removed without
// touching anything else. Comments and trailing commas are accepted only if the program that owns the file accepts
// them.
import { Unfit } from "./unfit.ts";

export interface JsonExtensions {
  readonly comments: boolean;
  readonly trailingCommas: boolean;
}

export interface Member {
  readonly key: string;
  readonly start: number;
  readonly value: JsonNode;
  /** Where the comma after it is. */
  readonly comma?: number;
}

export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** Its value. Objects have no prototype, so that no key is special. */
  readonly meaning: unknown;
  /** Of an object. */
  readonly members?: readonly Member[];
}

const maxDepth = 200;

export function parseJson(text: string, allowed: JsonExtensions): JsonNode {
  const reader = new JsonReader(text, allowed);
  const node = reader.value(0);
  reader.blank();
  if (reader.at < text.length) reader.fail();
  return node;
}

/** Where blanks and comments that begin on this line end; line breaks are not stepped over. */
export function restOfLine(text: string, from: number): number {
  const found = /(?:[ \t]|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;
  found.lastIndex = from;
  found.exec(text);
  return text.slice(from, found.lastIndex).search(/\S/) < 0 ? from : found.lastIndex;
}

class JsonReader {
  at = 0;
  readonly #text: string;
  readonly #allowed: JsonExtensions;

  constructor(text: string, allowed: JsonExtensions) {
    this.#text = text;
    this.#allowed = allowed;
  }

  fail(): never {
    const line = this.#text.slice(0, this.at).split("\n").length;
    throw new Unfit(`it is not valid JSON at line ${line}`);
  }

  /** Steps over white space, and over comments where they are allowed. */
  blank(): void {
    this.#take(this.#allowed.comments ? /(?:[ \t\r\n]|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y : /[ \t\r\n]*/y);
  }

  value(depth: number): JsonNode {
    if (depth > maxDepth) throw new Unfit("it is nested too deeply");
    this.blank();
    const start = this.at;
    switch (this.#text[start]) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      default: {
        const token = this.#take(/"(?:[^"\\\u0000-\u001f]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y);
        if (token === "") this.fail();
        return { start, end: this.at, meaning: this.#literal(token, start) };
      }
    }
  }

  #object(depth: number): JsonNode {
    const start = this.at++;
    const members: Member[] = [];
    const meaning: Record<string, unknown> = Object.create(null);
    while (this.#more("}", members.at(-1)?.comma, members.length)) {
      const at = this.at;
      const token = this.#take(/"(?:[^"\\\u0000-\u001f]|\\.)*"/y);
      if (token === "") this.fail();
      const key = String(this.#literal(token, at));
      this.blank();
      if (this.#text[this.at] !== ":") this.fail();
      this.at++;
      const value = this.value(depth + 1);
      this.blank();
      const comma = this.#text[this.at] === "," ? this.at++ : undefined;
      members.push({ key, start: at, value, ...(comma !== undefined && { comma }) });
      meaning[key] = value.meaning;
    }
    return { start, end: this.at, meaning, members };
  }

  #array(depth: number): JsonNode {
    const start = this.at++;
    const meaning: unknown[] = [];
    let comma: number | undefined;
    while (this.#more("]", comma, meaning.length)) {
      meaning.push(this.value(depth + 1).meaning);
      this.blank();
      comma = this.#text[this.at] === "," ? this.at++ : undefined;
    }
    return { start, end: this.at, meaning };
  }

  /** Whether another item follows; otherwise skips the closing bracket. */
  #more(close: string, comma: number | undefined, count: number): boolean {
    this.blank();
    if (this.#text[this.at] === close) {
      if (comma !== undefined && !this.#allowed.trailingCommas) this.fail();
      this.at++;
      return false;
    }
    if (count > 0 && comma === undefined) this.fail();
    return true;
  }

  #literal(token: string, start: number): unknown {
    try {
      return JSON.parse(token);
    } catch {
      this.at = start;
      return this.fail();
    }
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}
