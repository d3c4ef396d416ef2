// The build output of this folder: the thread's program, and the grammars.
declare module "#syntax" {
  /** The path of the program's file. */
  export const program: string;
}

declare module "#grammars" {
  /** The WebAssembly of a grammar, or of the parser's `runtime`. */
  export function unpacked(name: string): Uint8Array<ArrayBuffer>;
}
