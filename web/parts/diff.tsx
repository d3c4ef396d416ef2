// A difference: files with their hunks, unified or side by side. Text goes into the page as text nodes only; colours
// come from the server as spans.
import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { Hunk } from "../../src/review/api.ts";
import { isNarrow } from "../state/narrow.ts";
import { type DiffLine, type DiffPair, linesOf, pairsOf, segmentsOf, shownLines } from "./diff-lines.ts";
import { counted } from "./words.ts";

export type DiffLayout = "unified" | "split";

export const layout = signal<DiffLayout>(innerWidth >= 1280 ? "split" : "unified");

export function toggleLayout(): void {
  layout.value = layout.value === "split" ? "unified" : "split";
}

/** A line that a note can be put on. */
export interface DiffPlace {
  readonly side: "old" | "new";
  readonly line: number;
}

export interface LineTools {
  /** Starts a note on a line. */
  readonly onNote?: ((place: DiffPlace) => void) | undefined;
  /** The notes below a line, and the one that is being written. */
  readonly below?: ((place: DiffPlace) => ComponentChildren) | undefined;
  readonly isMarked?: ((place: DiffPlace) => boolean) | undefined;
}

export function HunkLines({ hunk, tools = {} }: { readonly hunk: Hunk; readonly tools?: LineTools }) {
  const { lines } = useMemo(() => linesOf(hunk), [hunk]);
  const [shown, setShown] = useState(shownLines);
  const some = lines.slice(0, shown);
  const left = lines.length - some.length;
  // Beside a text that is all new or all gone there is nothing to show.
  const hasBoth = new Set(lines.map(({ sign }) => sign)).size > 1;
  return (
    <>
      {layout.value === "split" && !isNarrow.value && hasBoth ? (
        <Split lines={some} tools={tools} />
      ) : (
        <Unified lines={some} tools={tools} />
      )}
      {left > 0 && (
        <button
          type="button"
          class="button quiet small more"
          onClick={() => setShown(shown + 4 * shownLines)}
        >
          Show {counted(Math.min(left, 4 * shownLines), "more line")}
        </button>
      )}
    </>
  );
}

const classes = { " ": "same", "-": "del-line", "+": "add-line", "\\": "meta-line" } as const;
const spoken = { " ": "", "-": "removed: ", "+": "added: ", "\\": "" } as const;

function Unified({ lines, tools }: { readonly lines: readonly DiffLine[]; readonly tools: LineTools }) {
  return (
    <table class="diff unified">
      <tbody>
        {lines.map((line, i) => {
          const place = placeOf(line);
          return [
            <tr key={i} class={`${classes[line.sign]}${marked(place, tools)}`}>
              <LineNumber line={line.old} place={line.new === undefined ? place : undefined} tools={tools} />
              <LineNumber line={line.new} place={line.new === undefined ? undefined : place} tools={tools} />
              <Code line={line} />
            </tr>,
            <Below key={`${i} below`} place={place} tools={tools} span={3} />,
          ];
        })}
      </tbody>
    </table>
  );
}

function Split({ lines, tools }: { readonly lines: readonly DiffLine[]; readonly tools: LineTools }) {
  const pairs = useMemo(() => pairsOf(lines), [lines]);
  return (
    <table class="diff side-by-side">
      <colgroup>
        <col class="number" />
        <col />
        <col class="number" />
        <col />
      </colgroup>
      <tbody>
        {pairs.map((pair, i) => [
          <tr key={i}>
            <Side line={pair.left} side="old" tools={tools} />
            <Side line={pair.right} side="new" tools={tools} />
          </tr>,
          ...placesOf(pair).map(place => (
            <Below key={`${i} ${place.side}`} place={place} tools={tools} span={4} />
          )),
        ])}
      </tbody>
    </table>
  );
}

interface SideProps {
  readonly line: DiffLine | undefined;
  readonly side: DiffPlace["side"];
  readonly tools: LineTools;
}

function Side({ line, side, tools }: SideProps) {
  if (line === undefined) return <td class="none" colSpan={2} />;
  const at = line[side];
  const place = at === undefined ? undefined : { side, line: at };
  const look = `${classes[line.sign]}${marked(place, tools)}`;
  return (
    <>
      <LineNumber line={at} place={place} tools={tools} look={look} />
      <Code line={line} look={look} />
    </>
  );
}

interface NumberProps {
  readonly line: number | undefined;
  readonly place: DiffPlace | undefined;
  readonly tools: LineTools;
  readonly look?: string;
}

/** The number starts a note for those with a pointer; with the keyboard, the hunk's own button does. */
function LineNumber({ line, place, tools, look = "" }: NumberProps) {
  const { onNote } = tools;
  return (
    <td class={`num ${look}`}>
      {line !== undefined &&
        (place === undefined || onNote === undefined ? (
          line
        ) : (
          <button
            type="button"
            tabIndex={-1}
            aria-label={`Note on line ${line}`}
            onClick={() => onNote(place)}
          >
            {line}
          </button>
        ))}
    </td>
  );
}

function Code({ line, look = "" }: { readonly line: DiffLine; readonly look?: string }) {
  return (
    <td class={`code ${look}`}>
      {line.sign !== " " && <span class="sr">{spoken[line.sign]}</span>}
      {segmentsOf(line).map(({ text, kind, isWord }, i) =>
        kind === undefined && !isWord ? (
          text
        ) : (
          <span key={i} class={`${kind ? `s-${kind}` : ""}${isWord ? " word" : ""}`}>
            {text}
          </span>
        ),
      )}
    </td>
  );
}

interface BelowProps {
  readonly place: DiffPlace | undefined;
  readonly tools: LineTools;
  readonly span: number;
}

function Below({ place, tools, span }: BelowProps) {
  const shown = place && tools.below?.(place);
  if (!shown) return null;
  return (
    <tr class="below">
      <td colSpan={span}>{shown}</td>
    </tr>
  );
}

function marked(place: DiffPlace | undefined, { isMarked }: LineTools): string {
  return place !== undefined && isMarked?.(place) ? " marked" : "";
}

function placeOf({ old, new: made }: DiffLine): DiffPlace | undefined {
  if (made !== undefined) return { side: "new", line: made };
  return old === undefined ? undefined : { side: "old", line: old };
}

/** A line that is the same on both sides is one place. */
function placesOf({ left, right }: DiffPair): DiffPlace[] {
  const sides = left === right ? [right] : [left, right];
  return sides.flatMap(line => (line && placeOf(line)) ?? []);
}
