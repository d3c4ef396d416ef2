// Records calls: a line in the audit log, and counters. The changes of a call are taken from the commits that happen
// while it runs, never from what the tool reports.
import { AsyncLocalStorage } from "node:async_hooks";
import { clock } from "../engine/clock.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { beginning } from "../host/masked-tokens.ts";
import type { PageAction } from "../review/http/page-watch.ts";
import { type CallOrigin, callEntry } from "./call-entry.ts";
import { type Id, isRecord, RpcError } from "./jsonrpc.ts";
import type { Caller, MethodAnswer } from "./method.ts";
import type { RecordedCall } from "./recorded-call.ts";
import { RefusalLines } from "./refusal-lines.ts";
import { reviewEntry } from "./review-audit.ts";

/**
 * Takes an entry of the audit log, or the members of its JSON object as text. It is in the log when this returns, unless
 * it may be batched with others: then the code that sends the answer flushes the log first.
 */
export type Audit = (entry: Readonly<Record<string, unknown>> | string, mayWait?: boolean) => void;

export interface Figures {
  readonly dialect: string;
  /** Absent if there is no such tool. */
  readonly tool?: string;
  readonly outcome: string;
  readonly ms: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

interface RecorderOptions {
  readonly audit?: Audit;
  /** Whether the transport flushes the audit log before it sends an answer. */
  readonly flushesAudit?: boolean;
  /** Takes the figures of each call. */
  readonly count?: (figures: Figures) => void;
}

/** Clients choose these. */
const longestId = 200;
const longestReason = 200;

export class Recorder implements Disposable {
  readonly #options: RecorderOptions;
  /**
   * The ids of the changes of the running call. In use only while a call runs that may change files: it costs
   * something on every promise of the process.
   */
  readonly #current = new AsyncLocalStorage<string[]>();
  #following = 0;
  readonly #stop: readonly (() => void)[];
  readonly #refusals = new RefusalLines(entry => this.#refuse(entry));

  constructor(workspace: Workspace, options: RecorderOptions) {
    this.#options = options;
    const note = (id: string) => void this.#current.getStore()?.push(id);
    this.#stop = options.audit ? [workspace.onCommit(({ id }) => note(id)), workspace.onRecord(note)] : [];
  }

  async record(
    occasion: CallOrigin,
    call: RecordedCall,
    caller: Caller,
    run: () => Promise<MethodAnswer>,
  ): Promise<MethodAnswer> {
    const { audit, count, flushesAudit } = this.#options;
    const started = clock();
    const changes: string[] = [];
    let outcome = "ok";
    let bytesOut = 0;
    try {
      const answer = await (audit && call.effect !== "reads" ? this.#follow(changes, run) : run());
      if (answer.result.isError === true) outcome = "error";
      bytesOut = contentBytes(answer.result.content ?? answer.result.contents);
      return answer;
    } catch (error) {
      outcome = error instanceof RpcError ? `error ${error.code}` : "failed";
      throw error;
    } finally {
      if (caller.aborted) outcome = "cancelled";
      const ms = clock() - started;
      const { dialect, bytesIn } = occasion;
      count?.({ dialect, tool: call.known ? call.name : undefined, outcome, ms, bytesIn, bytesOut });
      // Before the answer: what a caller knows to be done is in the log, even if the process is killed then.
      audit?.(callEntry(occasion, call, caller, { outcome, bytesOut, ms, changes }), flushesAudit);
    }
  }

  /** Runs a request that is not a call, and records it if it is refused. */
  async unlessRefused(
    about: Readonly<Record<string, unknown>>,
    { id, session }: Pick<Caller, "id" | "session">,
    run: () => Promise<MethodAnswer>,
  ): Promise<MethodAnswer> {
    try {
      return await run();
    } catch (error) {
      if (error instanceof RpcError) this.refused({ ...about, ...refusalEntry(error, id, session.client) });
      throw error;
    }
  }

  async #follow(changes: string[], run: () => Promise<MethodAnswer>): Promise<MethodAnswer> {
    this.#following++;
    try {
      return await this.#current.run(changes, run);
    } finally {
      if (--this.#following === 0) this.#current.disable();
    }
  }

  /**
   * A request that was not served. Those of callers who are identified have a line each, as their calls do, which are
   * limited; but not those over that limit.
   */
  refused(entry: Readonly<Record<string, unknown>>): void {
    if (entry.caller === undefined || entry.status === 429) this.#refusals.take(entry);
    else this.#refuse(entry);
  }

  #refuse(entry: Readonly<Record<string, unknown>>): void {
    this.#options.audit?.({ event: "refused", ...entry });
  }

  /** What a person did at the review page. */
  reviewed(action: PageAction): void {
    this.#options.audit?.(reviewEntry(action));
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stop) stop();
    this.#refusals[Symbol.dispose]();
  }
}

/** A request that was refused with a protocol error, for the record. */
export function refusalEntry({ code, message }: RpcError, id: Id | undefined, client?: string) {
  const request = id === "null" ? undefined : id && beginning(id, longestId);
  return { client, request, code, reason: beginning(message, longestReason), decision: "denied" };
}

export function contentBytes(content: unknown): number {
  if (!Array.isArray(content)) return 0;
  let bytes = 0;
  for (const item of content) {
    if (!isRecord(item)) continue;
    if (typeof item.text === "string") bytes += Buffer.byteLength(item.text);
    for (const data of [item.data, item.blob]) if (typeof data === "string") bytes += data.length;
    if (isRecord(item.resource)) bytes += contentBytes([item.resource]);
  }
  return bytes;
}
