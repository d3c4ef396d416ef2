// What turns bytes into text and back.

export interface Codec {
  /** The usual name, such as `utf-8`, `utf-16le`, `windows-1252`. */
  readonly name: string;
  /** Its byte-order mark, or empty. */
  readonly mark: Buffer;
  decode(bytes: Buffer): string;
  encode(text: string): Buffer;
  /** Offset of the first character that it cannot encode, or -1. Escaped bytes count as encodable. */
  unencodable(text: string): number;
  /** Set where decoding and encoding again may give other bytes: how many characters the next token of a line has. */
  readonly token?: (bytes: Buffer, at: number) => { readonly bytes: number; readonly chars: number };
}
