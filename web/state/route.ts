// Where the page is, kept in the fragment of its address: the back button works, and a phone shows list or detail.
import { signal } from "@preact/signals";

export type View = "now" | "changes" | "questions" | "notes";

export interface ChosenDetail {
  readonly kind: "task" | "change";
  readonly id: string;
  /** One file of it. */
  readonly path?: string;
  /** A line to scroll to, in the old or the new text. */
  readonly line?: number;
  readonly side?: "old" | "new";
}

export interface Route {
  readonly view: View;
  readonly chosen?: ChosenDetail;
}

export const views: readonly View[] = ["now", "changes", "questions", "notes"];

export const route = signal<Route>(parse(location.hash));

addEventListener("hashchange", () => {
  route.value = parse(location.hash);
});

/** `replace` where the step is not worth a press of the back button. */
export function go(next: Route, { replace = false } = {}): void {
  const hash = format(next);
  if (hash === location.hash) return;
  route.value = next;
  try {
    if (replace) history.replaceState(null, "", hash);
    else history.pushState(null, "", hash);
  } catch {} // a frame without an address of its own has no history
}

export function format({ view, chosen }: Route): string {
  if (chosen === undefined) return `#${view}`;
  const { kind, id, path, line, side } = chosen;
  const parts = [view, kind, id, ...(path === undefined ? [] : [path])].map(encodeURIComponent);
  return `#${parts.join("/")}${line === undefined ? "" : `/${line}${side === "old" ? "o" : ""}`}`;
}

function parse(hash: string): Route {
  const [name = "", kind, id, path, place] = hash.slice(1).split("/").map(decoded);
  const view = views.find(one => one === name) ?? "changes";
  if ((kind !== "task" && kind !== "change") || id === undefined) return { view };
  const [, line, old] = /^(\d+)(o?)$/.exec(place ?? "") ?? [];
  return {
    view,
    chosen: {
      kind,
      id,
      ...(path !== undefined && { path }),
      ...(line !== undefined && { line: Number(line), side: old === "o" ? "old" : "new" }),
    },
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
