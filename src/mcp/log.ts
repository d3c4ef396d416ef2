// A small logger to standard error: lines with time and level, as text or JSON. Standard output belongs to the
// protocol. Messages hold names that others chose: nothing in them ends a line, steers a terminal or turns its text.
import { printable } from "../contract/wording.ts";
import { auditJson } from "../host/audit-json.ts";
import { withoutTokens } from "../host/masked-tokens.ts";

const levels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof levels)[number];
export type LogFormat = "text" | "json";
/** What a line is about, usually the request. */
export type LogFields = Readonly<Record<string, unknown>>;

type Say = (message: string, cause?: unknown, fields?: LogFields) => void;
/** A log with one method for each level. */
export interface Log extends Readonly<Record<LogLevel, Say>> {
  /** The one line that each start has, unless only errors are wanted. */
  readonly started: (message: string, fields?: LogFields) => void;
}

/** A log that writes one line for each message, to stderr by default. */
export function createLog(
  level: LogLevel,
  write: (line: string) => unknown = toStandardError,
  format: LogFormat = "text",
): Log {
  const line = format === "json" ? jsonLine : textLine;
  const say = (one: LogLevel, shown: boolean): Say =>
    shown ? (message, cause, fields) => write(withoutTokens(line(one, message, cause, fields))) : () => {};
  const at = (one: LogLevel) => say(one, levels.indexOf(one) <= levels.indexOf(level));
  const started = say("info", level !== "error");
  return {
    error: at("error"),
    warn: at("warn"),
    info: at("info"),
    debug: at("debug"),
    started: (message, fields) => started(message, undefined, fields),
  };
}

const ignore = () => {};

/**
 * A line that cannot be written (the reader is gone, the disk is full) is lost. Without a listener, its failure would be
 * an uncaught exception, which is logged, and so on.
 */
function toStandardError(line: string): void {
  const { stderr } = process;
  if (!stderr.listeners("error").includes(ignore)) stderr.on("error", ignore);
  try {
    stderr.write(line);
  } catch {
    // A file is written at once.
  }
}

function textLine(level: LogLevel, message: string, cause: unknown, fields: LogFields = {}): string {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined);
  const about = known.map(([name, value]) => ` ${name}=${textOf(value)}`);
  const why = cause === undefined ? "" : `: ${describe(cause)}`;
  return `${new Date().toISOString()} polyfs ${level}: ${printable(message)}${why}${about.join("")}\n`;
}

function jsonLine(level: LogLevel, message: string, cause: unknown, fields: LogFields = {}): string {
  const error = cause === undefined ? undefined : describe(cause);
  return `${auditJson({ time: new Date().toISOString(), level, message, error, ...fields })}\n`;
}

function textOf(value: unknown): string {
  return typeof value === "string" && /^[^\s"\p{C}]+$/u.test(value) ? value : auditJson(value);
}

function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return printable(String(cause));
  const { message, stack = message } = cause;
  const end = stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  const frames = stack.slice(end).split("\n").map(printable).join("\n");
  return printable(stack.slice(0, end)) + frames;
}
