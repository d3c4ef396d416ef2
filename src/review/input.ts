// What a page sends, checked: a wrong value is refused with a sentence that says which, and nothing is guessed.
import { beginning } from "../host/masked-tokens.ts";
import type { Problem } from "./api.ts";

/** A request that is not served, with its status. */
export class Refused extends Error {
  readonly status: number;
  readonly problem: Problem;

  constructor(status: number, error: string, message: string) {
    super(message);
    this.status = status;
    this.problem = { error, message };
  }
}

function wrong(message: string): Refused {
  return new Refused(400, "invalid_input", message);
}

export class QueryFields {
  readonly #params: URLSearchParams;

  constructor(params: URLSearchParams) {
    this.#params = params;
  }

  text(name: string, longest = 1000): string | undefined {
    const value = this.#params.get(name);
    if (value === null || value === "") return undefined;
    if (value.length > longest) throw wrong(`${name} is longer than ${longest} characters`);
    return value;
  }

  id(name: string): string | undefined {
    const value = this.text(name);
    if (value !== undefined && !/^[0-9a-z]{1,40}$/.test(value)) throw wrong(`${name} is not an id`);
    return value;
  }

  number(name: string, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^\d{1,16}$/.test(value)) throw wrong(`${name} is not a whole number`);
    return Math.min(Number(value), most);
  }
}

type JsonFields = Readonly<Record<string, unknown>>;

/** The fields of a JSON object; what is not named here is refused. */
export class BodyFields {
  readonly #fields: JsonFields;

  constructor(value: unknown, names: readonly string[]) {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      throw wrong("send a JSON object");
    const unknown = Object.keys(value).find(name => !names.includes(name));
    if (unknown !== undefined) throw wrong(`${JSON.stringify(beginning(unknown, 100))} is not known here`);
    this.#fields = value as JsonFields;
  }

  text(name: string, longest: number): string | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    if (typeof value !== "string" || value.length > longest)
      throw wrong(`${name} must be a text of at most ${longest} characters`);
    return value;
  }

  id(name: string): string | undefined {
    const value = this.text(name, 40);
    if (value !== undefined && !/^[0-9a-z]+$/.test(value)) throw wrong(`${name} is not an id`);
    return value;
  }

  ids(name: string): string[] | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.length > 0 && value.length <= 1000;
    if (!isList || !value.every(one => typeof one === "string" && /^[0-9a-z]{1,40}$/.test(one)))
      throw wrong(`${name} must be a list of ids`);
    return value;
  }

  /** Names of hunks, as `withMarks` makes them. */
  hunkIds(name: string): string[] | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.length > 0 && value.length <= 1000;
    if (!isList || !value.every(one => typeof one === "string" && /^[0-9a-f]{24}$/.test(one)))
      throw wrong(`${name} must be a list of ids of hunks`);
    return value;
  }

  count(name: string): number | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    if (!Number.isSafeInteger(value) || Number(value) < 1)
      throw wrong(`${name} must be a whole number from 1`);
    return Number(value);
  }

  counts(name: string): number[] | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.length > 0 && value.length <= 100_000;
    if (!isList || !value.every(one => Number.isSafeInteger(one) && one > 0))
      throw wrong(`${name} must be a list of whole numbers from 1`);
    return value;
  }

  flag(name: string): boolean | undefined {
    const value = this.#fields[name];
    if (value !== undefined && typeof value !== "boolean") throw wrong(`${name} must be true or false`);
    return value;
  }

  one<T extends string>(name: string, values: readonly T[]): T | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    const found = values.find(one => one === value);
    if (found === undefined) throw wrong(`${name} must be one of ${values.join(", ")}`);
    return found;
  }

  /** Refuses what does not name exactly one of these. */
  exactlyOne(names: readonly string[]): void {
    if (names.filter(name => this.#fields[name] !== undefined).length !== 1)
      throw wrong(`send exactly one of ${names.join(", ")}`);
  }
}
