// A text in the making: the original cut into pieces, with new text between them. Every edit, whether it was found
// in the original or in what earlier edits made of it, ends up as one list of splices of the original.
import { type Splice, spliced } from "../text/splice.ts";

/** A stretch of the original, or a text that an edit put there (also "", where it only removed). */
type Piece =
  | { readonly start: number; readonly end: number }
  | { readonly text: string; readonly edit: number };

export class Draft {
  readonly #original: string;
  #pieces: Piece[];
  #current: string | undefined;

  constructor(original: string) {
    this.#original = original;
    this.#pieces = [{ start: 0, end: original.length }];
    this.#current = original;
  }

  /** The text as the edits so far have made it. */
  get current(): string {
    this.#current ??= spliced(this.#original, this.splices());
    return this.#current;
  }

  /** Applies sorted splices of the current text. */
  change(splices: readonly Splice[], edit: number): void {
    const pieces: Piece[] = [];
    let index = 0;
    let inside = 0;
    let at = 0;
    const advance = (to: number, keep: boolean) => {
      for (let piece = this.#pieces[index]; piece !== undefined; piece = this.#pieces[index]) {
        const length = "text" in piece ? piece.text.length : piece.end - piece.start;
        const step = Math.min(length - inside, to - at);
        const wholly = inside + step === length && at + step < to;
        if (keep) pieces.push(part(piece, inside, inside + step));
        at += step;
        inside += step;
        if (!wholly) return;
        index += 1;
        inside = 0;
      }
    };
    for (const splice of splices) {
      advance(splice.start, true);
      advance(splice.end, false);
      pieces.push({ text: splice.text, edit });
    }
    advance(Number.POSITIVE_INFINITY, true);
    this.#pieces = pieces;
    this.#current = undefined;
  }

  /** Applies sorted splices of the original. Returns the edit that they run into, and where; nothing is done then. */
  changeOriginal(
    splices: readonly Splice[],
    edit: number,
  ): { readonly edit: number; readonly at: number } | undefined {
    const mapped: Splice[] = [];
    let next = 0;
    let at = 0;
    let last = 0;
    const originals = this.#pieces.filter(piece => "start" in piece);
    let seen = 0;
    for (const piece of this.#pieces) {
      if ("text" in piece) {
        last = piece.edit;
        at += piece.text.length;
        continue;
      }
      seen += 1;
      const following = originals[seen];
      for (let splice = splices[next]; splice !== undefined; splice = splices[next]) {
        const { start, end } = splice;
        // Where text was put already, the later edit's goes behind it.
        const later = start === piece.end && (end > start || following?.start === start);
        if (start > piece.end || later) break;
        if (start < piece.start) return { edit: last, at: start };
        if (end > piece.end) return { edit: this.#editAfter(piece), at: piece.end };
        mapped.push({ start: at + start - piece.start, end: at + end - piece.start, text: splice.text });
        next += 1;
      }
      at += piece.end - piece.start;
    }
    const left = splices[next];
    if (left !== undefined) return { edit: last, at: left.start };
    this.change(mapped, edit);
    return undefined;
  }

  /** All changes as splices of the original, sorted. */
  splices(): Splice[] {
    const splices: Splice[] = [];
    let end = 0;
    let text = "";
    for (const piece of [...this.#pieces, { start: this.#original.length, end: this.#original.length }]) {
      if ("text" in piece) text += piece.text;
      else {
        if (piece.start > end || text !== "") splices.push({ start: end, end: piece.start, text });
        text = "";
        end = piece.end;
      }
    }
    return splices;
  }

  #editAfter(piece: Piece): number {
    const after = this.#pieces.slice(this.#pieces.indexOf(piece) + 1).find(next => "text" in next);
    return after !== undefined && "text" in after ? after.edit : 0;
  }
}

function part(piece: Piece, from: number, to: number): Piece {
  return "text" in piece
    ? { text: piece.text.slice(from, to), edit: piece.edit }
    : { start: piece.start + from, end: piece.start + to };
}
