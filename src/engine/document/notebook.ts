// Jupyter notebooks as a text of cells: each with a line that numbers it, its source, and its outputs in short. An
// edit of that text changes the source of cells, and leaves every other byte of the JSON as it is.
import { append } from "../append.ts";
import { diffLines, type LineChange } from "../text/line-diff.ts";
import { LineIndex } from "../text/lines.ts";
import type { Splice } from "../text/splice.ts";
import { type Placed, placedJson } from "./json-places.ts";

interface Cell {
  /** The value in the JSON. */
  readonly source: Placed;
  readonly lines: readonly string[];
  /** Where its lines are in the view, from 0. */
  readonly from: number;
}

interface NotebookView {
  readonly body: string;
  /** How many cells it shows, with a source or without. */
  readonly heads: number;
  /** Those with a source. */
  readonly cells: readonly Cell[];
}

const mostOutputLines = 10;
const longestOutput = 200;

export function isNotebook(path: string): boolean {
  return /\.ipynb$/i.test(path);
}

export interface NotebookText {
  readonly body: string;
  readonly cells: number;
  /** Where the sources of cells are in the text: from each offset to before the next. */
  readonly sources: readonly (readonly [start: number, end: number])[];
}

/** The text of a notebook. Undefined if the JSON is not a notebook. */
export function notebookText(json: string): NotebookText | undefined {
  const view = notebookView(json);
  if (view === undefined) return undefined;
  const { body, heads, cells } = view;
  const index = new LineIndex(body);
  const placed = ({ from, lines }: Cell) =>
    [index.start(from + 1), index.start(from + lines.length + 1)] as const;
  return { body, cells: heads, sources: cells.map(placed) };
}

function notebookView(json: string): NotebookView | undefined {
  const root = placedJson(json);
  const cells = root && cellsIn(root);
  if (cells === undefined) return undefined;
  const lines: string[] = [];
  const found: Cell[] = [];
  for (const [i, cell] of cells.entries()) {
    const type = textOf(member(cell, "cell_type")) ?? "cell";
    const source = member(cell, "source") ?? member(cell, "input");
    lines.push(`[cell ${i + 1}: ${oneLine(type)}]`);
    const text = source && textOf(source);
    if (source !== undefined && text !== undefined) {
      const own = text === "" ? [] : text.replace(/\n$/, "").split("\n");
      found.push({ source, lines: own, from: lines.length });
      append(lines, own);
    }
    append(
      lines,
      outputLines(member(cell, "outputs")).map(line => `[out] ${oneLine(line)}`),
    );
  }
  return { body: lines.map(line => `${line}\n`).join(""), heads: cells.length, cells: found };
}

/** Everything but sources is one line of the view, so that it cannot pass for the line of another cell. */
function oneLine(text: string): string {
  return text.replace(/[\n\v\f\r\u0085\u2028\u2029]+/g, " ").slice(0, longestOutput);
}

/** Up to format 3, the cells are in worksheets, and the source of code is its `input`. */
function cellsIn(root: Placed): readonly Placed[] | undefined {
  const cells = itemsOf(member(root, "cells"));
  return (
    cells ?? itemsOf(member(root, "worksheets"))?.flatMap(sheet => itemsOf(member(sheet, "cells")) ?? [])
  );
}

function itemsOf(list: Placed | undefined): readonly Placed[] | undefined {
  return Array.isArray(list?.value) ? (list.value as readonly Placed[]) : undefined;
}

/** The splices of the JSON that make its text read like this. Undefined if more than cells' text was changed. */
export function notebookSplices(json: string, edited: string): Splice[] | undefined {
  const view = notebookView(json);
  if (view === undefined) return undefined;
  const made = edited.split("\n");
  const changes = diffLines(`${view.body}\n`, `${edited}\n`);
  if (changes.some(({ bStart, bEnd }) => made.slice(bStart, bEnd).some(passesForOther))) return undefined;
  const splices: Splice[] = [];
  let placed = 0;
  let next = 0;
  for (const cell of view.cells) {
    const end = cell.from + cell.lines.length;
    while (startOf(changes[next]) < cell.from) next++;
    const first = next;
    while (endOf(changes[next]) <= end) next++;
    const own = changes.slice(first, next);
    if (own.length === 0) continue;
    placed += own.length;
    const text = encoded(json, cell, changedLines(cell, own, made));
    splices.push({ start: cell.source.start, end: cell.source.end, text });
  }
  return placed === changes.length ? splices : undefined;
}

/** An added line that reads like a head or an output would seem to begin a cell, and be text of another. */
function passesForOther(line: string): boolean {
  return /^\[(?:cell \d+: .*\]$|out\] )/.test(line);
}

function startOf(change: LineChange | undefined): number {
  return change?.aStart ?? Number.POSITIVE_INFINITY;
}

function endOf(change: LineChange | undefined): number {
  return change?.aEnd ?? Number.POSITIVE_INFINITY;
}

/** The lines of a cell after its changes, which are in order. */
function changedLines(cell: Cell, changes: readonly LineChange[], made: readonly string[]): string[] {
  const lines: string[] = [];
  let at = 0;
  for (const { aStart, aEnd, bStart, bEnd } of changes) {
    append(lines, cell.lines.slice(at, aStart - cell.from));
    append(lines, made.slice(bStart, bEnd));
    at = aEnd - cell.from;
  }
  append(lines, cell.lines.slice(at));
  return lines;
}

/** The source as JSON, in the form that it had; lines that stay keep their own spelling. */
function encoded(json: string, { source }: Cell, lines: readonly string[]): string {
  const ended = textOf(source)?.endsWith("\n") ?? false;
  const texts = lines.map((line, i) => (i < lines.length - 1 || ended ? `${line}\n` : line));
  if (!Array.isArray(source.value)) return JSON.stringify(texts.join(""));
  const items = source.value as readonly Placed[];
  const spelled = new Map(items.map(item => [item.value, json.slice(item.start, item.end)]));
  const [first, second] = items;
  const gap = first === undefined ? gapBefore(json, source.start) : json.slice(source.start + 1, first.start);
  const last = items.at(-1);
  const tail = last === undefined ? gap.replace(/ $/, "") : json.slice(last.end, source.end - 1);
  const between = first && second ? json.slice(first.end, second.start) : `,${gap}`;
  if (texts.length === 0) return "[]";
  return `[${gap}${texts.map(text => spelled.get(text) ?? JSON.stringify(text)).join(between)}${tail}]`;
}

/** How far before a list the start of its line is looked for: all of the JSON may be one line. */
const longestIndented = 1000;

/** How the items of an empty list would be indented: one step more than the list. */
function gapBefore(json: string, at: number): string {
  const before = json.slice(Math.max(0, at - longestIndented), at);
  const line = before.lastIndexOf("\n") + 1;
  if (line === 0) return "";
  return `\n${/^[ \t]*/.exec(before.slice(line))?.[0] ?? ""} `;
}

function member({ value }: Placed, name: string): Placed | undefined {
  return value instanceof Map ? (value as ReadonlyMap<string, Placed>).get(name) : undefined;
}

/** A string, or a list of strings put together, as notebooks write texts. */
function textOf(placed: Placed | undefined): string | undefined {
  if (placed === undefined) return undefined;
  const { value } = placed;
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  const parts = (value as readonly Placed[]).map(item => item.value);
  return parts.every(part => typeof part === "string") ? parts.join("") : undefined;
}

/** Up to format 3, an output has its forms beside its other properties. */
const oldKinds = /^(png|jpeg|svg|html|latex|javascript|json|pdf)$/;

function namesIn({ value }: Placed): string[] {
  return value instanceof Map ? [...(value as ReadonlyMap<string, Placed>).keys()] : [];
}

function outputLines(outputs: Placed | undefined): string[] {
  if (outputs === undefined || !Array.isArray(outputs.value)) return [];
  const lines = (outputs.value as readonly Placed[]).flatMap(output => {
    const text = textOf(member(output, "text"));
    const data = member(output, "data");
    const plain = data && textOf(member(data, "text/plain"));
    const kinds = namesIn(data ?? output).filter(kind =>
      data ? kind !== "text/plain" : oldKinds.test(kind),
    );
    const error = textOf(member(output, "evalue"));
    const name = textOf(member(output, "ename"));
    return [
      ...(text ?? plain ?? "").replace(/\n$/, "").split("\n"),
      ...kinds.map(kind => `<${kind}>`),
      ...(name === undefined ? [] : [`${name}: ${error ?? ""}`]),
    ].filter(line => line !== "");
  });
  const shown = lines.slice(0, mostOutputLines);
  const left = lines.length - shown.length;
  return left > 0 ? [...shown, `… ${left} more lines`] : shown;
}
