// What runs inside the worker thread. The function is turned into source text and started from it, so that it
// survives bundling: it must not refer to anything outside of itself.
import type { MessagePort } from "node:worker_threads";

export interface RegexJob {
  readonly pattern: string;
  readonly flags: string;
  readonly texts: readonly string[];
  /** "all": every match with its groups. "lines": the first match of each line, and how many there are. */
  readonly want: "all" | "lines";
  /** Match each line separately, so that nothing crosses a line break. Always so for "lines". */
  readonly byLine: boolean;
  /** Stop after this many matches (or matching lines) in one text. */
  readonly limit: number;
}

/** The matches in one text. `found` is flat: start and end of match and groups, or line, start, end and count. */
export interface Matches {
  readonly groups: number;
  readonly names: readonly string[];
  readonly found: Int32Array;
  readonly more: boolean;
}

/** One answer per text, in order; or a single one with `error`. */
export type RegexAnswer = Matches | { readonly error: string };

export function runInWorker(port: MessagePort): void {
  // Methods instead of named functions: bundlers wrap those in a function of their own to keep their names.
  const search = {
    /** Calls `each` for every match until it says no. */
    scan(regex: RegExp, part: string, each: (match: RegExpExecArray) => boolean): void {
      regex.lastIndex = 0;
      for (let match = regex.exec(part); match !== null; match = regex.exec(part)) {
        if (!each(match)) return;
        // Nothing is found between the two halves of a character, also where the flags would allow it.
        if (match[0] === "") regex.lastIndex += (part.codePointAt(regex.lastIndex) ?? 0) > 0xffff ? 2 : 1;
      }
    },
    /**
     * Calls `each` with every line, its offset and number, until it returns false. There is no line after a final
     * break.
     */
    lines(text: string, each: (line: string, offset: number, number: number) => boolean): void {
      let number = 1;
      for (let start = 0; start < text.length || number === 1; number++) {
        const at = text.indexOf("\n", start);
        const end = at < 0 ? text.length : at;
        if (!each(text.slice(start, end), start, number)) return;
        start = end + 1;
      }
    },
    all(job: RegexJob, regex: RegExp, groups: number, text: string): { found: number[]; more: boolean } {
      const found: number[] = [];
      // The most numbers that one answer may hold.
      const most = Math.min(16_000_000, job.limit * (2 + 2 * groups));
      let more = false;
      let offset = 0;
      const take = {
        match(match: RegExpExecArray): boolean {
          more = found.length >= most;
          if (more) return false;
          found.push(offset + match.index, offset + match.index + match[0].length);
          for (let g = 1; g <= groups; g++) {
            const span = match.indices?.[g];
            found.push(
              span === undefined ? -1 : offset + span[0],
              span === undefined ? -1 : offset + span[1],
            );
          }
          return true;
        },
      };
      if (!job.byLine) search.scan(regex, text, take.match);
      else {
        search.lines(text, (line, start) => {
          offset = start;
          search.scan(regex, line, take.match);
          return !more;
        });
      }
      return { found, more };
    },
    firstOfLines(job: RegexJob, regex: RegExp, text: string): { found: number[]; more: boolean } {
      const found: number[] = [];
      let more = false;
      // An empty file has no line.
      if (text === "") return { found, more };
      search.lines(text, (line, _, number) => {
        let count = 0;
        let [start, end] = [0, 0];
        search.scan(regex, line, match => {
          if (count === 0) [start, end] = [match.index, match.index + match[0].length];
          count += 1;
          return true;
        });
        if (count === 0) return true;
        more = found.length >= job.limit * 4;
        if (!more) found.push(number, start, end, count);
        return !more;
      });
      return { found, more };
    },
  };
  port.on("message", (job: RegexJob) => {
    let regex: RegExp;
    let probe: RegExpExecArray | null;
    try {
      regex = new RegExp(job.pattern, [...new Set(`${job.flags}g`)].join(""));
      probe = new RegExp(`${job.pattern}|`, job.flags).exec("");
    } catch (error) {
      port.postMessage({ error: error instanceof Error ? error.message : String(error) });
      return;
    }
    const groups = probe === null ? 0 : probe.length - 1;
    // Group positions are requested only if there are groups: they slow matching down.
    if (job.want === "all" && groups > 0 && !regex.hasIndices)
      regex = new RegExp(regex.source, `${regex.flags}d`);
    const names = Object.keys(probe?.groups ?? {});
    for (const text of job.texts) {
      const { found, more } =
        job.want === "all" ? search.all(job, regex, groups, text) : search.firstOfLines(job, regex, text);
      port.postMessage({ groups, names, found: Int32Array.from(found), more });
    }
  });
}
