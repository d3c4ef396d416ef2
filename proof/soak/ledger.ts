// Files with a line for each client. A client changes only its own lines, and knows which changes were acknowledged: if
// a line is anything else than that, or than what it asked for and got no answer to, an edit was lost.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const forms = ["\n", "\r\n"] as const;
export const ledgers = 12;

/** `slot-3 turn-17 9f86d081` */
function entry(slot: number, turn: number): string {
  const text = `slot-${slot} turn-${turn}`;
  return `${text} ${sumOf(text)}`;
}

export function sumOf(text: string | Buffer): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

export function ledgerName(number: number): string {
  return `ledger/l${number}.txt`;
}

export function prepareLedgers(root: string, slots: number): void {
  for (let i = 0; i < ledgers; i++) {
    const ending = forms[i % 2] ?? "\n";
    const lines = Array.from({ length: slots }, (_, slot) => [entry(slot, 0), `-- ${slot} --`]).flat();
    writeFileSync(join(root, ledgerName(i)), lines.map(line => line + ending).join(""));
  }
}

/** What one client knows about its line in one file. */
export class Slot {
  readonly file: string;
  readonly #root: string;
  readonly #slot: number;
  /** The last that was acknowledged, and what may have been done since without an answer. */
  #known: string;
  #possible: string[] = [];
  #turn = 0;

  constructor(root: string, file: string, slot: number) {
    this.#root = root;
    this.file = file;
    this.#slot = slot;
    this.#known = entry(slot, 0);
  }

  /** The line on the disk; undefined if it is not whole. */
  get stands(): string | undefined {
    const path = join(this.#root, this.file);
    const text = existsSync(path) ? readFileSync(path, "latin1") : "";
    const found = text.split(/\r?\n/).filter(line => line.startsWith(`slot-${this.#slot} `));
    return found.length === 1 ? found[0] : undefined;
  }

  next(): string {
    return entry(this.#slot, ++this.#turn);
  }

  done(line: string): void {
    this.#known = line;
    this.#possible = [];
  }

  /** It is unknown whether this was done. */
  asked(line: string): void {
    this.#possible.push(line);
  }

  /** What is wrong, if anything. Only to be asked while no call is on its way. */
  complaint(): string | undefined {
    const stands = this.stands;
    if (stands === this.#known || (stands !== undefined && this.#possible.includes(stands))) return undefined;
    const complaint = `${this.file}: ${stands ?? "no line"} is there, ${this.#known} was acknowledged`;
    if (stands !== undefined) this.done(stands); // each loss is counted once
    return complaint;
  }
}
