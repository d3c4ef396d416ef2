// What a command says, as it comes.
import type { Buffer } from "node:buffer";

export type OutputStream = "stdout" | "stderr";

/** Receives what is written, as it comes. Where it returns a promise, the command waits until that is kept. */
export type OutputListener = (chunk: Buffer, stream: OutputStream) => void | Promise<void>;
