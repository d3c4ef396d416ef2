// Bounds the memory that large contents take at once: files that are read whole, and answers that their clients have not
// read yet. A client can ask for a thousand large files in one write, and each call alone is within its limits.

/** Smaller contents are not counted. */
export const leastCounted = 1024 * 1024;
/** Calls that hold one file may wait for another. Without any progress for so long, one of them goes on. */
const patienceMs = 1000;

interface WaitingFile {
  readonly bytes: number;
  enter(): void;
}

export class MemoryBudget {
  readonly #limit: number;
  #reading = 0;
  #unread = 0;
  readonly #waiting: WaitingFile[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How many files wait for room. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Counts a file that is about to be read, as soon as there is room for it. One file alone always has room. */
  async read(bytes: number): Promise<void> {
    if (this.#waiting.length > 0 || !this.#hasRoom(bytes)) {
      await new Promise<void>(enter => {
        this.#waiting.push({ bytes, enter });
        this.#watch();
      });
    } else this.#reading += bytes;
  }

  /** The content is no longer in use. It counts until the answer that is made of it does. */
  readEnded(bytes: number): void {
    setImmediate(() => {
      this.#reading -= bytes;
      this.#admit();
    });
  }

  /** Counts an answer until its client has read it, without waiting. */
  answer(bytes: number): void {
    if (bytes >= leastCounted) this.#unread += bytes;
  }

  answerRead(bytes: number): void {
    if (bytes < leastCounted) return;
    this.#unread -= bytes;
    this.#admit();
  }

  #hasRoom(bytes: number): boolean {
    const held = this.#reading + this.#unread;
    return held + bytes <= this.#limit || (this.#reading === 0 && held < this.#limit);
  }

  #admit(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && this.#hasRoom(next.bytes);
      next = this.#waiting[0]
    )
      this.#admitFirst();
    this.#watch();
  }

  #admitFirst(): void {
    const first = this.#waiting.shift();
    if (first === undefined) return;
    this.#reading += first.bytes;
    first.enter();
  }

  /** Answers that are not read hold up further reads for as long as that lasts. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => {
      if (this.#unread < this.#limit) this.#admitFirst();
      this.#watch();
    }, patienceMs);
  }
}

/** That of the process: all engines in it share its memory. */
export const memoryBudget = new MemoryBudget(256 * 1024 * 1024);
