// The messages to and from the parsing thread. Positions are offsets in the text, in UTF-16 units.
import type { Grammar } from "../language.ts";

/** An answer that does not wait for a large text. It is parsed all the same, for the next request about its file. */
export interface Hurry {
  readonly file: string;
  /** Processor time after which the answer has no result. */
  readonly answerMs: number;
}

export interface ParseRequest {
  readonly id: number;
  readonly grammar: Grammar;
  readonly text: string;
  /** Processor time that parsing may take. */
  readonly maxMs: number;
  readonly hurry?: Hurry | undefined;
  /** Report also what a grammar accepts and its language does not. */
  readonly rules?: boolean | undefined;
  /** Read C and C++ as if macros that stand for no expression were not there. */
  readonly withoutMacros?: boolean | undefined;
  /** Keep the tree: this text, or one much like it, may be parsed next. */
  readonly keep?: boolean | undefined;
  readonly declarations?: boolean | undefined;
  /** Tell what kind of node is at each of these. */
  readonly at?: readonly number[] | undefined;
  /** Report where this identifier occurs, and in which role. */
  readonly name?: string | undefined;
  /** Tell what to colour in these parts: offsets in pairs, in order. */
  readonly spans?: readonly number[] | undefined;
}

/** What a part of a text is, for colours. */
export type SyntaxKind =
  | "comment"
  | "string"
  | "number"
  | "keyword"
  | "constant"
  | "type"
  | "function"
  | "property"
  | "operator";

export type SyntaxSpan = readonly [start: number, end: number, kind: SyntaxKind];

export type SymbolKind =
  | "class"
  | "constant"
  | "constructor"
  | "enum"
  | "field"
  | "function"
  | "implementation"
  | "interface"
  | "method"
  | "namespace"
  | "prototype"
  | "section"
  | "type"
  | "variable";

export interface RawDeclaration {
  readonly kind: SymbolKind;
  readonly name: string;
  /** Index of the declaration that this one is in; -1 at the top. */
  readonly parent: number;
  /** Where the comments, decorators and attributes above it begin. */
  readonly top: number;
  /** Its own start, including modifiers. */
  readonly start: number;
  /** The same without decorators. */
  readonly bare: number;
  readonly end: number;
  readonly nameStart: number;
  readonly nameEnd: number;
  /** Its text up to the body. */
  readonly head: string;
}

export interface ParseError {
  readonly start: number;
  readonly end: number;
  /** The token that the parser had to insert, such as `}`. */
  readonly missing?: string;
  /** Found by counting brackets, which does not depend on what else is wrong. */
  readonly bracket?: true;
  /** A directive of the preprocessor, likewise read without the grammar. */
  readonly directive?: true;
}

/** What is at an offset. */
export type NodeKind = "identifier" | "string" | "comment" | "other";

/**
 * How an identifier is used. `member`: a property or method; `own` if its class is certain. `outside`: a name from
 * another module, `from`. `unclear`: it may be more than one symbol.
 */
export interface NameUse {
  readonly start: number;
  readonly role: "variable" | "member" | "outside" | "unclear";
  /** Whether it is declared or brought in here. */
  readonly binds: boolean;
  /** An id of the scope that binds it. */
  readonly scope?: number;
  /** Whether that is the file's own. */
  readonly top?: boolean;
  readonly from?: string;
  /** `from` is reached as a member of what holds it: `a.b.name`. */
  readonly attribute?: boolean;
  /** `from m import *` may bring it. */
  readonly starred?: boolean;
  readonly own?: boolean;
  /** The class that declares a member, and what it extends or implements outside this file. */
  readonly heir?: { readonly name: string; readonly bases: readonly string[] };
  /** Written for two things at once, as in `{ name }`. */
  readonly shorthand?: boolean;
}

export interface ParseAnswer {
  readonly id: number;
  /** Without it the text could not be parsed in time, or the grammar failed. */
  readonly parsed?: {
    readonly errors: readonly ParseError[];
    readonly declarations?: readonly RawDeclaration[];
    readonly kinds?: readonly NodeKind[];
    readonly uses?: readonly NameUse[];
    readonly spans?: readonly SyntaxSpan[];
  };
}
