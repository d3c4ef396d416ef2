// Standard output could not be written. The program then ends with code 1.

export class OutputError extends Error {
  override readonly name = "OutputError";
  /** Whether the reader has closed the pipe, as in `polyfs history | head -1`: that is not an error. */
  readonly closed: boolean;

  constructor(cause: Error) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    super(code === "ENOSPC" ? "no space left on the device" : cause.message, { cause });
    this.closed = code === "EPIPE";
  }
}
