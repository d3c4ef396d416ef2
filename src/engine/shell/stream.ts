// What a command says, as it comes.
import type { Buffer } from "node:buffer";

export type Stream = "stdout" | "stderr";

/** Receives what is written, as it comes. Where it returns a promise, the command waits until that is kept. */
export type Listener = (chunk: Buffer, stream: Stream) => void | Promise<void>;
