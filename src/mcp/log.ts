// A tiny logger to standard error. Standard output belongs to the protocol; clients show or keep what comes here.

const levels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof levels)[number];
export type Log = Readonly<Record<LogLevel, (message: string, cause?: unknown) => void>>;

export function createLog(
  level: LogLevel,
  write = (line: string): unknown => process.stderr.write(line),
): Log {
  const at = (one: LogLevel) =>
    levels.indexOf(one) > levels.indexOf(level)
      ? () => {}
      : (message: string, cause?: unknown) => {
          write(`polyfs ${one}: ${message}${cause === undefined ? "" : `: ${describe(cause)}`}\n`);
        };
  return { error: at("error"), warn: at("warn"), info: at("info"), debug: at("debug") };
}

function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
