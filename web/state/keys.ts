// Keys that work everywhere on the page. Lists have their own (parts/virtual-list.tsx); fields keep theirs.
import { signal } from "@preact/signals";
import { toggleLayout } from "../parts/diff.tsx";
import { actionsOf, focused, type ItemActions, move } from "./items.ts";
import { go, route, views } from "./route.ts";
import { isEmbedded } from "./session.ts";
import { redo } from "./undo.ts";

export const isHelpOpen = signal(false);

const onItems: { readonly [key: string]: readonly (keyof ItemActions)[] | undefined } = {
  u: ["undo"],
  a: ["keep", "allow"],
  c: ["note"],
  t: ["allowTask"],
  d: ["deny"],
  Enter: ["open"],
};

export function listenToKeys(): void {
  document.addEventListener("keydown", event => {
    const { target, key, ctrlKey, altKey, metaKey } = event;
    if (ctrlKey || altKey || metaKey || event.defaultPrevented) return;
    if (!(target instanceof HTMLElement) || target.closest("dialog")) return;
    if (target.closest("input, textarea, select")) {
      if (key === "Escape") target.blur();
      return;
    }
    if (key === "Enter" && target.closest("button, a")) return;
    if (pressed(key, target)) event.preventDefault();
  });
}

/** Whether the key means something here. */
function pressed(key: string, target: HTMLElement): boolean {
  const names = onItems[key];
  if (names !== undefined) {
    const actions = actionsOf(focused() ?? defaultItem());
    const run = names.map(name => actions[name]).find(action => action !== undefined);
    run?.();
    return run !== undefined;
  }
  const view = isEmbedded.value ? undefined : views[Number(key) - 1];
  if (view !== undefined) go({ view });
  else if (key === "j" || key === "k") step(key === "j" ? 1 : -1, target);
  else if (key === "Escape") back();
  else if (key === "/") document.getElementById("search")?.focus();
  else if (key === "v") toggleLayout();
  else if (key === "z") void redo();
  else if (key === "?") isHelpOpen.value = true;
  else return false;
  return true;
}

/** Without a focused item, keys apply to the whole selection, or to the first question. */
function defaultItem(): Element | undefined {
  return document.querySelector("main .detail-head, main .question") ?? undefined;
}

/** In the difference from hunk to hunk, elsewhere in the list of the view. */
function step(by: number, target: HTMLElement): void {
  const detail = document.getElementById("detail");
  if (detail?.contains(target)) move(by, detail);
  else if (!focusList()) move(by);
}

function back(): void {
  if (route.value.view !== "changes") return;
  if (!focusList()) go({ view: "changes" });
}

function focusList(): boolean {
  const list = document.querySelector<HTMLElement>("main .vlist");
  if (list === null || list.offsetParent === null) return false;
  list.focus();
  return true;
}
