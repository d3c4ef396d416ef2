// The viewer, what it sees, and what it may do.
import { computed } from "@preact/signals";
import type { SessionInfo } from "../../src/review/api.ts";
import { Loaded } from "./loadable.ts";
import { get } from "./request.ts";

export const session = new Loaded<SessionInfo>();

export const may = computed(
  () => session.value?.may ?? { undo: false, answer: false, writeRules: false, note: false },
);

/** Inside a client there are changes, and nothing else. */
export const isEmbedded = computed(
  () => session.value?.mode === "app" || "embedded" in document.documentElement.dataset,
);

export function loadSession(keep = false): Promise<void> {
  return session.load(signal => get<SessionInfo>("api/session", signal), { keep });
}
