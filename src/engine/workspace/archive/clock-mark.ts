// Whether the wall clock can be trusted to tell how old something is. A clock that jumps a month ahead would otherwise
// make retention delete the whole history. A mark in the state directory pairs the time of day with the machine's
// uptime: within one boot, both advance by about the same.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { bootId } from "../disk/process-identity.ts";

interface ClockMark {
  readonly boot: string;
  /** When the machine was started, by the earliest clock that was seen. */
  readonly startedMs: number;
}

/** More than any clock drifts, or a suspended machine loses, unnoticed. */
const toleratedMs = 24 * 3_600_000;

const startedMs = (): number => Date.now() - uptime() * 1000;
/** As the clock had it when this process began. */
const atFirst = startedMs();

/** False if the clock jumped ahead within this boot. Leaves a mark for the next check. */
export function isClockSteady(state: string): boolean {
  const path = join(state, "clock");
  const [now, boot] = [startedMs(), bootId()];
  const last = read(path);
  const known = last?.boot === boot ? last.startedMs : Number.POSITIVE_INFINITY;
  const earliest = Math.min(now, atFirst, known);
  if (earliest < known) mark(path, { boot, startedMs: earliest });
  return now - earliest <= toleratedMs;
}

function mark(path: string, content: ClockMark): void {
  try {
    const temporary = `${path}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(content), { mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    // Without a mark the next process uses its own start.
  }
}

function read(path: string): ClockMark | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as ClockMark;
  } catch {
    return undefined;
  }
}
