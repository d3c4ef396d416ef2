// The first hits in path order of a parallel search so far, in bounded memory. Evicts the last blocks first, so the
// kept ones are a contiguous prefix.

import { compareBytes } from "./order.ts";
import type { FileBlock } from "./ripgrep-output.ts";

const maxHeldBytes = 64 * 1024 * 1024;
const lineOverhead = 200; // the cost of a line, or a file, besides its text

/** A path's position in the order. Written paths (workspace/name.ts) differ where their bytes do. */
export interface PathPosition {
  readonly path: string;
}

/** A file with hits, not yet opened by us. */
export interface HitBlock extends PathPosition {
  readonly bytes: Buffer;
  readonly lines: FileBlock["lines"];
  readonly proof: FileBlock["proof"];
  /** How many lines match. */
  readonly count: number;
  /** How much of the limit it takes. */
  readonly hits: number;
  /** Whether there were more lines than memory allows. */
  readonly cut: boolean;
  /** It is in another encoding, and no line of it was found yet (foreign-files.ts). */
  readonly isForeign?: boolean;
}

export class FirstBlocks {
  #blocks: HitBlock[] = [];
  #bytes = 0;
  #hits = 0;
  readonly #enough: number;
  readonly #behind: PathPosition | undefined;
  /** The first block that was evicted. */
  #end: PathPosition | undefined;
  /** Whether a block was evicted that may be wanted: there was no room for it. */
  overflowed = false;

  /** Keeps `enough` hits at least, if there are as many behind `behind`. */
  constructor(enough: number, behind: PathPosition | undefined) {
    this.#enough = enough;
    this.#behind = behind;
  }

  /** Whether there is more after the last block. */
  get trimmed(): boolean {
    return this.#end !== undefined;
  }

  add(block: HitBlock): void {
    if (this.#behind !== undefined && compare(block, this.#behind) <= 0) return;
    if (this.#end !== undefined && compare(block, this.#end) >= 0) return;
    this.#blocks.push(block);
    this.#bytes += costOf(block);
    this.#hits += block.hits;
    this.overflowed ||= block.cut;
    if (this.#bytes > maxHeldBytes) {
      this.#drop(() => this.#bytes > maxHeldBytes / 2);
      this.overflowed ||= this.#hits < this.#enough;
    } else if (this.#hits > 2 * this.#enough) this.#drop(last => this.#hits - last.hits > this.#enough);
  }

  /** Evicts blocks at the end while `more` says so. */
  #drop(more: (last: HitBlock) => boolean): void {
    this.sorted();
    for (let last = this.#blocks.at(-1); last !== undefined && more(last); last = this.#blocks.at(-1)) {
      if (this.#blocks.length === 1) break;
      this.#blocks.pop();
      this.#end = last;
      this.#bytes -= costOf(last);
      this.#hits -= last.hits;
    }
  }

  sorted(): readonly HitBlock[] {
    return this.#blocks.sort(compare);
  }
}

function compare(a: PathPosition, b: PathPosition): number {
  return compareBytes(a.path, b.path);
}

function costOf({ path, lines, proof }: HitBlock): number {
  const besides = lineOverhead + 2 * path.length + (proof?.length ?? 0);
  return lines.reduce((sum, line) => sum + line.bytes.length + lineOverhead, besides);
}
