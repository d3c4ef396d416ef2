// Things on the page that keys act on: hunks, files, questions, notes. Each marks its element with `data-item` and says
// here what can be done with it.
export interface ItemActions {
  readonly undo?: (() => void) | undefined;
  readonly keep?: (() => void) | undefined;
  readonly note?: (() => void) | undefined;
  readonly open?: (() => void) | undefined;
  readonly allow?: (() => void) | undefined;
  readonly allowTask?: (() => void) | undefined;
  readonly deny?: (() => void) | undefined;
}

const actions = new WeakMap<Element, ItemActions>();

/** A ref that registers the element's actions. */
export function item(of: ItemActions): (element: Element | null) => void {
  return element => {
    if (element !== null) actions.set(element, of);
  };
}

/** The item that has the focus, or holds what has. */
export function focused(): HTMLElement | undefined {
  return document.activeElement?.closest<HTMLElement>("[data-item]") ?? undefined;
}

export function actionsOf(element: Element | undefined): ItemActions {
  return (element && actions.get(element)) ?? {};
}

/** Moves the focus to the item `by` further on. Resolves to whether there was one. */
export function move(by: number, within: ParentNode = document): boolean {
  const all = [...within.querySelectorAll<HTMLElement>("[data-item]")].filter(
    ({ offsetParent }) => offsetParent !== null,
  );
  const now = focused();
  const at = now === undefined ? -1 : all.indexOf(now);
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next?.focus({ preventScroll: true });
  next?.scrollIntoView({ block: "nearest" });
  return next !== undefined;
}
