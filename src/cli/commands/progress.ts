// The progress of long work, as one line on a terminal that is erased at the end. Prints nothing elsewhere.

export interface ProgressLine extends Disposable {
  readonly tell: (done: number, total: number) => void;
}

/** Short work ends before the line could be read. */
const few = 3;

export function progressOn(stream: NodeJS.WriteStream, what: string): ProgressLine {
  let shown = false;
  return {
    tell(done, total) {
      if (!stream.isTTY || total <= few) return;
      shown = true;
      stream.write(`\r\x1b[K${done} of ${total} ${what}`);
    },
    [Symbol.dispose]() {
      if (shown) stream.write("\r\x1b[K");
    },
  };
}
