// Checks an audit log: all lines are present, unchanged and in order. It cannot detect lines missing at the very end:
// keep the last hash elsewhere if that matters.
import { readFileSync } from "node:fs";
import { errnoOf, system } from "../engine/workspace/errno.ts";
import { lineHash } from "./audit-log.ts";
import { keptFiles } from "./log-file.ts";

export interface AuditReport {
  readonly lines: number;
  readonly chains: number;
  /** Chains that did not end: their process still runs, or was killed. */
  readonly open: number;
  /** Lines that were changed. */
  readonly problems: readonly string[];
  /** The hash of the last line. */
  readonly last: string;
  /** Whether older lines were dropped by rotation. */
  readonly rotated: boolean;
}

interface Link {
  seq: number;
  hash: string;
  ended: boolean;
}

const mostProblems = 20;

/** Checks a file together with its rotated ones. Throws a fault if it cannot be read. */
export function checkAudit(path: string): AuditReport {
  const ages = Array.from({ length: keptFiles }, (_, age) => `${path}.${keptFiles - age}`);
  const old = ages.filter(name => contentOf(name) !== undefined);
  const rotated = old.includes(`${path}.${keptFiles}`);
  const check = new LogCheck(rotated);
  for (const name of old) check.file(name, contentOf(name) ?? "");
  check.file(
    path,
    system(path, () => readFileSync(path, "utf8")),
  );
  return check.report();
}

class LogCheck {
  readonly #rotated: boolean;
  readonly #chains = new Map<string, Link>();
  readonly #hashes = new Set<string>();
  readonly #problems: string[] = [];
  #lines = 0;
  #last = "";

  constructor(rotated: boolean) {
    this.#rotated = rotated;
  }

  file(name: string, text: string): void {
    const lines = text.split("\n");
    if (lines.pop() !== "") this.#problem(`${name}: the last line is incomplete`);
    for (const [at, line] of lines.entries()) {
      const problem = this.#line(line, this.#lines++ === 0);
      if (problem !== undefined) this.#problem(`${name}:${at + 1}: ${problem}`);
    }
  }

  report(): AuditReport {
    const chains = [...this.#chains.values()];
    return {
      lines: this.#lines,
      chains: chains.length,
      open: chains.filter(({ ended }) => !ended).length,
      problems: this.#problems,
      last: this.#last,
      rotated: this.#rotated,
    };
  }

  #line(line: string, first: boolean): string | undefined {
    const hash = lineHash(line);
    const entry = parsed(line);
    this.#last = hash;
    const known = this.#hashes;
    const isKnown = (prev: string) => known.has(prev);
    if (entry === undefined) return "not a line of an audit log";
    const { chain, seq, prev, event } = entry;
    const before = this.#chains.get(chain);
    this.#chains.set(chain, { seq, hash, ended: event === "end" });
    known.add(hash);
    if (before === undefined) {
      if (event === "start" && seq === 1) {
        // Two processes may have found the file empty.
        if (prev === "" || isKnown(prev) || (first && this.#rotated)) return undefined;
        return "the last line before this chain is missing";
      }
      // Only where rotation has dropped a file, or an operator has taken one away, may a chain begin in its middle.
      return this.#rotated || (first && event === "reopen")
        ? undefined
        : "the lines of this chain before it are missing";
    }
    if (before.ended) return "its chain had ended";
    if (seq !== before.seq + 1) return `line ${seq} of its chain comes after line ${before.seq}`;
    if (prev !== before.hash) return "the line before it in its chain was changed";
    return undefined;
  }

  #problem(text: string): void {
    if (this.#problems.length < mostProblems) this.#problems.push(text);
  }
}

interface AuditEntry {
  readonly chain: string;
  readonly seq: number;
  readonly prev: string;
  readonly event?: unknown;
}

function parsed(line: string): AuditEntry | undefined {
  try {
    const value = JSON.parse(line) as Partial<AuditEntry> | null;
    const { chain, seq, prev } = value ?? {};
    const whole = typeof chain === "string" && typeof seq === "number" && typeof prev === "string";
    return whole ? (value as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}

function contentOf(name: string): string | undefined {
  try {
    return readFileSync(name, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
