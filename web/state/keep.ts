// Marks for what was looked at and is to stay. Tasks, changes and files are marked on the server, for every page; single
// hunks in this browser, by what they hold, so that the mark is gone when the hunk is another one.
import { signal } from "@preact/signals";
import type { Hunk, KeepRequest, Kept } from "../../src/review/api.ts";
import { announce } from "./announce.ts";
import { refreshDetail } from "./detail.ts";
import { markKept } from "./history.ts";
import { messageOf } from "./loadable.ts";
import { post } from "./request.ts";

export async function keep(request: KeepRequest, what: string): Promise<void> {
  try {
    markKept(await post<Kept>("api/keep", request));
    announce(request.kept ? `Kept ${what}` : `${what} is to be looked at again`, "good");
    refreshDetail();
  } catch (error) {
    announce(messageOf(error), "bad");
  }
}

const key = "polyfs-kept-hunks";
const most = 2_000;

export const keptHunks = signal<ReadonlySet<string>>(new Set(stored()));

export function hunkKey(path: string, { text }: Hunk): string {
  const body = text.slice(text.indexOf("\n"));
  let hash = 0;
  for (let i = 0; i < body.length; i++) hash = (Math.imul(hash, 31) + body.charCodeAt(i)) | 0;
  return `${hash.toString(36)}.${body.length.toString(36)} ${path}`;
}

export function keepHunk(id: string, isKept: boolean): void {
  const next = new Set(keptHunks.value);
  if (isKept) next.add(id);
  else next.delete(id);
  keptHunks.value = next;
  announce(isKept ? "Kept this hunk" : "This hunk is to be looked at again", "good");
  try {
    localStorage.setItem(key, JSON.stringify([...next].slice(-most)));
  } catch {} // a closed storage only means that the marks last as long as the page
}

function stored(): string[] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "[]");
    return Array.isArray(value) ? value.filter(one => typeof one === "string") : [];
  } catch {
    return [];
  }
}
