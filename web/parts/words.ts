// Times, durations and counts as the page shows them.
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const whole = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hourCycle: "h23",
});

export function timeOfDay(time: number): string {
  return clock.format(time);
}

/** With the day, where that is not today. */
export function when(time: number): string {
  const today = new Date().toDateString() === new Date(time).toDateString();
  return today ? clock.format(time) : `${day.format(time)}, ${clock.format(time).slice(0, 5)}`;
}

export function exactTime(time: number): string {
  return whole.format(time);
}

export function ago(time: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - time) / 1000));
  if (seconds < 5) return "just now";
  return `${span(seconds)} ago`;
}

export function span(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

export function duration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : span(Math.round(ms / 1000));
}

export function counted(count: number, what: string): string {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}
