// Calls as they happen, the latest first.
import { signal } from "@preact/signals";
import type { Call, CallList } from "../../src/review/api.ts";
import { Loaded } from "./loadable.ts";
import { get } from "./request.ts";

const most = 5_000;

export const calls = new Loaded<readonly Call[]>();

/** Calls that came while the list is held still. */
export const held = signal<readonly Call[] | undefined>(undefined);

export function loadCalls(): Promise<void> {
  return calls.load(async signal => (await get<CallList>("api/calls?limit=500", signal)).calls, {
    keep: true,
  });
}

/** Calls that came since the last time the list was drawn. A busy agent makes hundreds in a second. */
let fresh: Call[] = [];
const drawEveryMs = 100;

export function addCall(call: Call): void {
  if (fresh.length === 0) setTimeout(take, drawEveryMs);
  fresh.unshift(call);
}

function take(): void {
  const latest = fresh;
  fresh = [];
  if (held.value !== undefined) {
    held.value = [...latest, ...held.value].slice(0, most);
    return;
  }
  const known = calls.value;
  if (known === undefined) return;
  const ids = new Set(known.slice(0, 1_000).map(({ id }) => id));
  calls.value = [...latest.filter(({ id }) => !ids.has(id)), ...known].slice(0, most);
}

/** Holds the list still, or lets it run on. */
export function toggleHold(): void {
  const waiting = held.value;
  held.value = waiting === undefined ? [] : undefined;
  if (waiting !== undefined) calls.value = [...waiting, ...(calls.value ?? [])].slice(0, most);
}
