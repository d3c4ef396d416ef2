// What the list of changes is narrowed to.
import { computed, signal } from "@preact/signals";
import type { ChangeSummary, Facets } from "../../src/review/api.ts";
import { Loaded } from "./loadable.ts";
import { get } from "./request.ts";

export interface Filters {
  readonly agent: string;
  readonly tool: string;
  readonly path: string;
  /** How far back, in minutes; 0: all of it. */
  readonly minutes: number;
}

export const noFilters: Filters = { agent: "", tool: "", path: "", minutes: 0 };

export const filters = signal<Filters>(noFilters);

/** The search in all recorded contents. */
export const searchText = signal("");

export const filterCount = computed(
  () => Object.values(filters.value).filter(value => value !== "" && value !== 0).length,
);

export function parameters(): Record<string, string | number | undefined> {
  const { agent, tool, path, minutes } = filters.value;
  return { agent, tool, path, since: minutes === 0 ? undefined : Date.now() - minutes * 60_000 };
}

/** Whether a change that was just made belongs into the list. The server decides for globs, at the next load. */
export function matches({ agent, tool, files }: ChangeSummary): boolean {
  const wanted = filters.value;
  const part = wanted.path.replaceAll(/[*?]+/g, "");
  return (
    (wanted.agent === "" || agent.client === wanted.agent) &&
    (wanted.tool === "" || tool === wanted.tool) &&
    (wanted.path === "" || files.some(({ name, path }) => name.includes(part) || path.includes(part)))
  );
}

export const facets = new Loaded<Facets>();

export function loadFacets(): Promise<void> {
  return facets.load(signal => get<Facets>("api/facets", signal), { keep: true });
}
