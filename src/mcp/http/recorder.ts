// What is remembered of a call: a line in the audit file, and the counters. Which changes a call made is known
// from the commits that happen while it runs, whatever the tool; never from what it says about itself.
import { AsyncLocalStorage } from "node:async_hooks";
import { clock } from "../../engine/clock.ts";
import type { Commit } from "../../engine/workspace/commit/change.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import { isRecord, RpcError } from "../jsonrpc.ts";
import type { Answer, Caller } from "../method.ts";
import type { Metrics } from "./metrics.ts";
import type { Visit } from "./visit.ts";

/** Takes one line of the audit, without its end. */
export type Audit = (line: string) => void;

/** A call, for the record. */
export interface Recorded {
  readonly name: string;
  /** Whether there is such a tool. */
  readonly known: boolean;
  /** Those that it names. */
  readonly paths: readonly string[];
}

interface RecorderOptions {
  readonly metrics: Metrics;
  readonly audit?: Audit;
}

const mostPaths = 100;
const longestPath = 1024;

export class Recorder implements Disposable {
  readonly #options: RecorderOptions;
  readonly #running = new AsyncLocalStorage<Commit[]>();
  readonly #stop: () => void;

  constructor(workspace: Workspace, options: RecorderOptions) {
    this.#options = options;
    // Following a call costs something on every promise: only where somebody wants to know.
    this.#stop = options.audit
      ? workspace.onCommit(commit => void this.#running.getStore()?.push(commit))
      : () => {};
  }

  async record(
    visit: Visit,
    { name, known, paths }: Recorded,
    caller: Caller,
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    const started = clock();
    const commits: Commit[] = [];
    let outcome = "ok";
    let bytesOut = 0;
    try {
      const answer = await (this.#options.audit ? this.#running.run(commits, run) : run());
      if (answer.result.isError === true) outcome = "error";
      bytesOut = contentBytes(answer.result.content ?? answer.result.contents);
      return answer;
    } catch (error) {
      outcome = error instanceof RpcError ? `error ${error.code}` : "failed";
      throw error;
    } finally {
      if (caller.signal.aborted) outcome = "cancelled";
      const ms = clock() - started;
      const { dialect } = visit.table;
      const bytesIn = visit.bytes;
      this.#options.metrics.call({
        dialect: dialect.name,
        tool: known ? name : undefined,
        outcome,
        ms,
        bytesIn,
        bytesOut,
      });
      this.#options.audit?.(
        JSON.stringify({
          time: new Date().toISOString(),
          caller: visit.principal.is.name,
          client: caller.session.client,
          dialect: dialect.name,
          tool: name,
          paths: pathsOf(paths, commits),
          outcome,
          bytesIn,
          bytesOut,
          ms: Math.round(ms * 10) / 10,
          changes: commits.map(({ id }) => id),
        }),
      );
    }
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

/** The paths that the call names, and those that it changed. */
function pathsOf(named: readonly string[], commits: readonly Commit[]): string[] {
  const paths = new Set(named);
  for (const { files } of commits) {
    for (const { at, from } of files) {
      paths.add(at);
      if (from !== undefined) paths.add(from.at);
    }
  }
  return [...paths].slice(0, mostPaths).map(path => path.slice(0, longestPath));
}

function contentBytes(content: unknown): number {
  if (!Array.isArray(content)) return 0;
  let bytes = 0;
  for (const item of content) {
    if (!isRecord(item)) continue;
    if (typeof item.text === "string") bytes += Buffer.byteLength(item.text);
    for (const data of [item.data, item.blob]) if (typeof data === "string") bytes += data.length;
  }
  return bytes;
}
