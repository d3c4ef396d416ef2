// Jupyter notebooks as a text of cells: each with a line that numbers it, its source, and its outputs in short. An
// edit of that text changes the source of cells, and leaves every other byte of the JSON as it is.
import { append } from "../append.ts";
import { LineIndex } from "../text/lines.ts";
import type { Splice } from "../text/splice.ts";
import { type Placed, placedJson } from "./json-places.ts";
import { sourceSplices, textOf } from "./notebook-source.ts";

interface Cell {
  /** The value in the JSON. */
  readonly source: Placed;
  readonly lines: readonly string[];
  /** Where its lines are in the view, from 0. */
  readonly from: number;
}

interface NotebookView {
  readonly body: string;
  readonly lines: readonly string[];
  /** Those that are no source, from 0: heads and outputs. */
  readonly fixed: ReadonlySet<number>;
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
  const fixed = new Set<number>();
  const add = (line: string) => fixed.add(lines.push(line) - 1);
  const found: Cell[] = [];
  for (const [i, cell] of cells.entries()) {
    const type = textOf(member(cell, "cell_type")) ?? "cell";
    const source = member(cell, "source") ?? member(cell, "input");
    add(`[cell ${i + 1}: ${oneLine(type)}]`);
    const text = source && textOf(source);
    if (source !== undefined && text !== undefined) {
      const own = linesIn(text);
      found.push({ source, lines: own, from: lines.length });
      append(lines, own);
    }
    for (const line of outputLines(member(cell, "outputs"))) add(`[out] ${oneLine(line)}`);
  }
  const body = lines.map(line => `${line}\n`).join("");
  return { body, lines, fixed, heads: cells.length, cells: found };
}

function linesIn(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

/** Everything but sources is one line of the view, so that it cannot pass for the line of another cell. */
function oneLine(text: string): string {
  const line = text.replace(/[\n\v\f\r\u0085\u2028\u2029]+/g, " ");
  return line.slice(0, longestOutput).replace(/[\ud800-\udbff]$/, "");
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

/** Lines [start, end) of the text, from 0, became `lines`. Those keep a "\r" at their ends, and have no "\n". */
export interface ChangedNotebookLines {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** The splices of the JSON that change its text like this. Undefined if more than the sources of cells was changed. */
export function notebookSplices(
  json: string,
  changesOf: (text: string) => readonly ChangedNotebookLines[],
): Splice[] | undefined {
  const view = notebookView(json);
  if (view === undefined) return undefined;
  const changes: ChangedNotebookLines[] = [];
  for (const change of changesOf(view.body)) {
    const parts = betweenFixed(view, change);
    if (parts === undefined) return undefined;
    append(changes, parts);
  }
  const splices: Splice[] = [];
  let next = 0;
  for (const { source, lines, from } of view.cells) {
    const made: string[] = [];
    let at = 0;
    for (let change = changes[next]; change !== undefined; change = changes[++next]) {
      const [start, end] = [change.start - from, change.end - from];
      if (start < at || end > lines.length) break;
      const replaced = lines.slice(start, end);
      if (change.lines.some(line => passesForOther(line) && !replaced.includes(line))) return undefined;
      append(made, lines.slice(at, start));
      append(made, change.lines);
      at = end;
    }
    append(made, lines.slice(at));
    append(splices, sourceSplices(json, source, made));
  }
  return next === changes.length ? splices : undefined;
}

/** A change of several cells as one for each: the heads and outputs between them stay. Undefined if they do not. */
function betweenFixed(
  { lines: old, fixed }: NotebookView,
  { start, end, lines }: ChangedNotebookLines,
): ChangedNotebookLines[] | undefined {
  const parts: ChangedNotebookLines[] = [];
  let [at, from] = [start, 0];
  for (let line = start; line < end; line++) {
    if (!fixed.has(line)) continue;
    const same = lines.findIndex((one, i) => i >= from && one.replace(/\r$/, "") === old[line]);
    if (same < 0) return undefined;
    parts.push({ start: at, end: line, lines: lines.slice(from, same) });
    [at, from] = [line + 1, same + 1];
  }
  parts.push({ start: at, end, lines: lines.slice(from) });
  return parts.filter(part => part.end > part.start || part.lines.length > 0);
}

/**
 * The splices of the JSON that give cells these sources, in the order of `notebookText`; undefined: as it is. Undefined if a
 * new line would pass for a head or an output.
 */
export function cellSplices(json: string, texts: readonly (string | undefined)[]): Splice[] | undefined {
  const splices: Splice[] = [];
  for (const [i, { source, lines }] of (notebookView(json)?.cells ?? []).entries()) {
    const text = texts[i];
    if (text === undefined) continue;
    const made = linesIn(text);
    if (made.some(line => passesForOther(line) && !lines.includes(line))) return undefined;
    append(splices, sourceSplices(json, source, made));
  }
  return splices;
}

/** An added line that reads like a head or an output would seem to begin a cell, and be text of another. */
function passesForOther(line: string): boolean {
  return /^\[(?:cell \d+: .*\]\r?$|out\] )/.test(line);
}

function member({ value }: Placed, name: string): Placed | undefined {
  return value instanceof Map ? (value as ReadonlyMap<string, Placed>).get(name) : undefined;
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
