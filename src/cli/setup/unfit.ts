// A configuration that cannot be edited without a risk for what its owner wrote. It is left alone, and the person is
// shown what to put in by hand.

export class Unfit extends Error {
  override readonly name = "Unfit";
}

/** How a server is put into a kind of configuration file and taken out. Everything else in the text stays. */
export interface Format {
  /** The text with this server in it; fields that a user added stay. Throws `Unfit`. */
  put(text: string, name: string, entry: ServerEntry): string;
  /** The text without it; the same text if it is not there. Throws `Unfit`. */
  remove(text: string, name: string): string;
  /** The servers in it, each with its text. Throws `Unfit`. */
  servers(text: string): ReadonlyMap<string, string>;
}

/** The fields of a server, in order. */
export type ServerEntry = Readonly<
  Record<string, string | boolean | number | readonly string[] | { readonly [key: string]: string }>
>;

export function isList(value: ServerEntry[string]): value is readonly string[] {
  return Array.isArray(value);
}

/** How lines end here. */
export function lineEnding(text: string): string {
  return /\r\n/.test(text) ? "\r\n" : "\n";
}

export function splice(text: string, start: number, end: number, added: string): string {
  return text.slice(0, start) + added + text.slice(end);
}
