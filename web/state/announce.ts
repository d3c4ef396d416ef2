// Announcements: for screen readers, and for a few seconds at the foot of the page.
import { signal } from "@preact/signals";

export interface Announcement {
  readonly text: string;
  readonly tone: "plain" | "good" | "bad";
}

export const announcement = signal<Announcement | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

export function announce(text: string, tone: Announcement["tone"] = "plain"): void {
  announcement.value = { text, tone };
  clearTimeout(timer);
  timer = setTimeout(() => (announcement.value = undefined), tone === "bad" ? 12_000 : 6_000);
}
