// A text in the making: the original cut into pieces, with new text between them. Every edit, whether it was found
// in the original or in what earlier edits made of it, ends up as one list of splices of the original.
import { indexOfText } from "../text/index-of.ts";
import { type Splice, spliced } from "../text/splice.ts";
import type { EditSplice } from "./line-hunks.ts";
import { occurrences, type Region } from "./literal.ts";

/** A range of the original, or a text that an edit inserted (also "", for a deletion). */
type TextPiece =
  | { readonly start: number; readonly end: number }
  | { readonly text: string; readonly edit: number };

export class TextBuffer {
  readonly #original: string;
  #pieces: TextPiece[];
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

  /**
   * The first positions of a text in the current text, overlapping ones included. The original is searched directly,
   * and only the surroundings of changes are assembled, so that many edits of a large file do not each copy it.
   */
  find(old: string, most: number): Region[] {
    if (this.#current !== undefined) return occurrences(this.#current, old, { most, overlapping: true });
    const kept = this.#keptPlaces(old, most);
    const made: Region[] = [];
    for (const seam of this.#seams(old.length - 1)) {
      for (const { start, end } of occurrences(seam.text, old, { most, overlapping: true })) {
        const region = { start: seam.at + start, end: seam.at + end };
        if (!seam.kept.some(piece => piece.start <= region.start && region.end <= piece.end))
          made.push(region);
      }
      if (made.length >= most) break;
    }
    return [...kept, ...made].sort((a, b) => a.start - b.start).slice(0, most);
  }

  /** Places in stretches of the original that are still whole. */
  #keptPlaces(old: string, most: number): Region[] {
    const found: Region[] = [];
    let from = indexOfText(this.#original, old);
    let at = 0;
    for (const piece of this.#pieces) {
      if ("text" in piece) at += piece.text.length;
      else {
        if (from >= 0 && from < piece.start) from = indexOfText(this.#original, old, piece.start);
        for (
          ;
          from >= 0 && from + old.length <= piece.end;
          from = indexOfText(this.#original, old, from + 1)
        ) {
          const start = at + from - piece.start;
          found.push({ start, end: start + old.length });
          if (found.length >= most) return found;
        }
        at += piece.end - piece.start;
      }
      if (from < 0) break;
    }
    return found;
  }

  /** The surroundings of changes: the new texts with this many characters on both sides, joined where they meet. */
  *#seams(
    margin: number,
  ): Generator<{ readonly at: number; readonly text: string; readonly kept: readonly Region[] }> {
    let at = 0;
    let start = 0;
    let parts: string[] = [];
    let kept: Region[] = [];
    let before = "";
    for (const piece of this.#pieces) {
      const length = "text" in piece ? piece.text.length : piece.end - piece.start;
      if ("text" in piece) {
        if (parts.length === 0) {
          start = at - before.length;
          parts = [before];
          kept = [{ start: Math.max(0, start), end: at }];
        }
        parts.push(piece.text);
      } else {
        const joins = length <= 2 * margin;
        if (parts.length > 0) {
          parts.push(this.#original.slice(piece.start, joins ? piece.end : piece.start + margin));
          kept.push({ start: at, end: at + length });
          if (!joins) {
            yield { at: start, text: parts.join(""), kept };
            parts = [];
          }
        }
        before = this.#original.slice(Math.max(piece.start, piece.end - margin), piece.end);
      }
      at += length;
    }
    if (parts.length > 0) yield { at: start, text: parts.join(""), kept };
  }

  /** Applies sorted splices of the current text. */
  change(splices: readonly Splice[], edit: number): void {
    const pieces: TextPiece[] = [];
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
    if (this.#pieces.length === 1) {
      this.change(splices, edit);
      return undefined;
    }
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
        // Where text was put already, the later edit's goes after it.
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
  splices(): EditSplice[] {
    const splices: EditSplice[] = [];
    let end = 0;
    let text = "";
    let edits: number[] = [];
    for (const piece of [...this.#pieces, { start: this.#original.length, end: this.#original.length }]) {
      if ("text" in piece) {
        text += piece.text;
        if (!edits.includes(piece.edit)) edits.push(piece.edit);
      } else {
        const changed = piece.start > end || text !== "";
        if (changed) splices.push({ start: end, end: piece.start, text, edits });
        if (changed || piece.end > piece.start) edits = [];
        text = "";
        end = piece.end;
      }
    }
    return splices;
  }

  #editAfter(piece: TextPiece): number {
    const after = this.#pieces.slice(this.#pieces.indexOf(piece) + 1).find(next => "text" in next);
    return after !== undefined && "text" in after ? after.edit : 0;
  }
}

function part(piece: TextPiece, from: number, to: number): TextPiece {
  return "text" in piece
    ? { text: piece.text.slice(from, to), edit: piece.edit }
    : { start: piece.start + from, end: piece.start + to };
}
