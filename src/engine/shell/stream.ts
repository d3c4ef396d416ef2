// The output streams of a command.
import type { Buffer } from "node:buffer";

export type OutputStream = "stdout" | "stderr";

/** Receives output as it arrives. If it returns a promise, the command blocks until that resolves. */
export type OutputListener = (chunk: Buffer, stream: OutputStream) => void | Promise<void>;
