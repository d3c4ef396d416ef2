// A declaration, from a grammar or from the text alone.
import type { SymbolKind } from "./thread/messages.ts";

export interface Declared {
  readonly kind: SymbolKind;
  /** `Class.method` */
  readonly name: string;
  readonly depth: number;
  /** Lines, from 1: with the comments and decorators above it, and without. */
  readonly top: number;
  readonly from: number;
  readonly to: number;
  /** Offsets of the same, and of its own name. */
  readonly topStart: number;
  readonly start: number;
  /** Without decorators. */
  readonly bare: number;
  readonly end: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  readonly head: string;
  /** Inside of a function. */
  readonly local: boolean;
}
