// A list that renders only the rows in view, so ten thousand rows scroll as ten do. Rows have known heights. The active
// row is always rendered, because the list names it as its active descendant: focus stays on the list itself.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isNarrow } from "../state/narrow.ts";

interface Props<T> {
  readonly id: string;
  readonly label: string;
  readonly rows: readonly T[];
  readonly role: "tree" | "listbox";
  readonly heightOf: (row: T) => number;
  readonly keyOf: (row: T) => string;
  readonly active: string | undefined;
  /** By a press or Enter. */
  readonly onActivate: (row: T, isKey: boolean) => void;
  /** By the keys that go up and down. */
  readonly onMove: (row: T) => void;
  /** Opens or closes a row of a tree. */
  readonly onExpand?: ((row: T, isOpen: boolean) => void) | undefined;
  readonly render: (row: T, index: number) => ComponentChildren;
  /** Called when the end comes into view. */
  readonly onEnd?: (() => void) | undefined;
}

const overscan = 6;

export function VirtualList<T>(props: Props<T>) {
  const { id, label, rows, role, heightOf, keyOf, active, onActivate, onMove, onExpand, render, onEnd } =
    props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  // Heights differ between a phone and a wide window.
  const offsets = useMemo(() => offsetsOf(rows, heightOf), [rows, isNarrow.value]);
  const total = offsets[rows.length] ?? 0;

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, []);

  const activeIndex = useMemo(
    () => (active === undefined ? -1 : rows.findIndex(row => keyOf(row) === active)),
    [rows, active],
  );
  // Scrolls to the active row when another one becomes active, not when rows arrive above it.
  useEffect(() => {
    const element = box.current;
    if (element === null || activeIndex < 0) return;
    const [top = 0, bottom = 0] = [offsets[activeIndex], offsets[activeIndex + 1]];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight;
  }, [active]);

  const first = Math.max(0, indexAt(offsets, view.top) - overscan);
  const last = Math.min(rows.length - 1, indexAt(offsets, view.top + view.height) + overscan);
  useEffect(() => {
    if (last >= rows.length - 1) onEnd?.();
  }, [last, rows.length]);

  const shown: number[] = [];
  if (activeIndex >= 0 && activeIndex < first) shown.push(activeIndex);
  for (let i = first; i <= last; i++) shown.push(i);
  if (activeIndex > last) shown.push(activeIndex);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows[activeIndex];
    const page = Math.max(1, Math.floor(view.height / 60) - 1);
    const step = steps(page)[event.key];
    if (step !== undefined) {
      const next = rows[Math.max(0, Math.min(rows.length - 1, activeIndex < 0 ? 0 : activeIndex + step))];
      if (next !== undefined) onMove(next);
    } else if (row !== undefined && event.key === "Enter") onActivate(row, true);
    else if (row !== undefined && onExpand && /^Arrow(Right|Left)$/.test(event.key))
      onExpand(row, event.key === "ArrowRight");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div
      ref={box}
      id={id}
      class="vlist"
      {...{ role, onKeyDown, tabIndex: 0, "aria-label": label }}
      {...(activeIndex >= 0 && { "aria-activedescendant": `${id}-${active}` })}
    >
      <div class="vlist-inner" role="presentation" style={{ height: `${total}px` }}>
        {shown.map(index => {
          const row = rows[index] as T;
          return (
            <div
              key={keyOf(row)}
              class="vrow"
              style={{ transform: `translateY(${offsets[index]}px)`, height: `${heightOf(row)}px` }}
              {...{ role: "presentation", onClick: () => onActivate(row, false) }}
            >
              {render(row, index)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function steps(page: number): { readonly [key: string]: number | undefined } {
  const [down, up] = [1, -1];
  return {
    j: down,
    ArrowDown: down,
    k: up,
    ArrowUp: up,
    PageDown: page,
    PageUp: -page,
    Home: -Infinity,
    End: Infinity,
  };
}

function offsetsOf<T>(rows: readonly T[], heightOf: (row: T) => number): Float64Array {
  const offsets = new Float64Array(rows.length + 1);
  for (const [i, row] of rows.entries()) offsets[i + 1] = (offsets[i] ?? 0) + heightOf(row);
  return offsets;
}

/** The row that contains `y`. */
function indexAt(offsets: Float64Array, y: number): number {
  let [low, high] = [0, Math.max(0, offsets.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((offsets[middle] ?? 0) <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}
