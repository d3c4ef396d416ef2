// A monotonic clock: setting the time of day does not change it. Not `performance`: Node loads that when it is first
// asked, which takes a fresh process longer than a small search, and each further question three times as long.

/** Milliseconds since some moment. */
export function clock(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
