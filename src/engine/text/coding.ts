// What turns bytes into text and back.

export interface Codec {
  /** The usual name, such as `utf-8`, `utf-16le`, `windows-1252`. */
  readonly name: string;
  /** The byte-order mark that belongs to it, empty where there is none. */
  readonly mark: Buffer;
  decode(bytes: Buffer): string;
  encode(text: string): Buffer;
  /** Where the first character stands that it cannot hold; -1 where it can hold all. Escaped bytes count as held. */
  unencodable(text: string): number;
  /** Set where decoding and encoding again may give other bytes: how many characters the next token of a line has. */
  readonly token?: (bytes: Buffer, at: number) => { readonly bytes: number; readonly chars: number };
}
