// Runs every request that a method answers: tool calls wait for their turn, and are counted and recorded. Keeps the
// caller's workspace open while the call runs, even if the client has disconnected.
import type { Effect } from "../../contract/tool.ts";
import { leastCounted, memoryBudget } from "../../engine/memory-budget.ts";
import { RpcError } from "../jsonrpc.ts";
import type { Caller, Method, MethodAnswer, Params } from "../method.ts";
import { type RecordedCall, recordedCall } from "../recorded-call.ts";
import { contentBytes, type Recorder } from "../recorder.ts";
import { traceContextOf } from "../trace-context.ts";
import type { RequestTracing } from "../tracing.ts";
import { FairQueue } from "./fair-queue.ts";
import type { RequestContext } from "./request-context.ts";

/**
 * How many run at once, over all callers. More reads would only compete for the same disk and processors. Writes to
 * one file wait for each other, and must not take slots from reads; nor may commands, which take minutes.
 */
const slots: Readonly<Record<Effect, number>> = { reads: 64, writes: 256, runs: 64 };
/** The default number of concurrent calls per caller. */
const defaultConcurrency = 4;

export class CallScheduler {
  readonly #queues: Readonly<Record<Effect, FairQueue>> = {
    // Calls that wait for memory use no processor, and reads of small files need none of it.
    reads: new FairQueue(slots.reads, () => memoryBudget.waiting),
    writes: new FairQueue(slots.writes),
    runs: new FairQueue(slots.runs),
  };
  readonly #recorder: Recorder;
  readonly #tracing: RequestTracing | undefined;

  constructor(recorder: Recorder, tracing?: RequestTracing) {
    this.#recorder = recorder;
    this.#tracing = tracing;
  }

  get running(): number {
    return Object.values(this.#queues).reduce((sum, { running }) => sum + running, 0);
  }

  get waiting(): number {
    return Object.values(this.#queues).reduce((sum, { waiting }) => sum + waiting, 0);
  }

  async answer(
    requestContext: RequestContext,
    name: string,
    method: Method,
    params: Params,
    caller: Caller,
  ): Promise<MethodAnswer> {
    const { principal, table, address } = requestContext;
    requestContext.reached = true;
    using _reach = principal.use();
    using _kept = requestContext.hold?.();
    const trace = traceContextOf(params, requestContext.traceHeaders ?? {});
    const call = recordedCall(table.tool, name, params, trace.parent?.traceId);
    const { name: who, workspace } = principal.is;
    const answered = () => table.server.answer(method, params, caller);
    const about = { caller: who, address, rpc: name, trace: trace.parent?.traceId };
    const run =
      call === undefined ? () => this.#unlessRefused(about, requestContext, caller, answered) : answered;
    if (this.#tracing === undefined) return await this.#inTurn(requestContext, call, caller, run);
    const request = {
      transport: "http",
      method: name,
      call,
      dialect: table.dialect.name,
      workspace,
    } as const;
    return await this.#tracing.request({ ...request, address, trace }, caller, id =>
      this.#inTurn(requestContext, call && { ...call, trace: id }, caller, run),
    );
  }

  async #unlessRefused(
    about: Readonly<Record<string, unknown>>,
    requestContext: RequestContext,
    caller: Caller,
    run: () => Promise<MethodAnswer>,
  ): Promise<MethodAnswer> {
    try {
      return await this.#recorder.unlessRefused(about, caller, run);
    } catch (error) {
      requestContext.recorded = error instanceof RpcError;
      throw error;
    }
  }

  /** Calls wait for their turn, and are recorded. */
  async #inTurn(
    requestContext: RequestContext,
    call: RecordedCall | undefined,
    caller: Caller,
    run: () => Promise<MethodAnswer>,
  ): Promise<MethodAnswer> {
    if (call === undefined) return await run();
    const { principal, table, address, bytes: bytesIn } = requestContext;
    const queue = this.#queues[call.effect];
    const { name: who, workspace, concurrency = defaultConcurrency } = principal.is;
    const occasion = { caller: who, address, dialect: table.dialect.name, workspace, bytesIn };
    const entering = queue.enter(requestContext.open.line, concurrency, caller);
    // A call that is cancelled while it waits is recorded, too.
    using _turn = await entering.catch(async (error): Promise<undefined> => {
      await this.#recorder.record(occasion, call, caller, () => Promise.reject(error));
    });
    const answer = await this.#recorder.record(occasion, call, caller, run);
    const bytes = contentBytes(answer.result.content);
    if (bytes >= leastCounted) {
      memoryBudget.answer(bytes);
      requestContext.open.onEnd(() => memoryBudget.answerRead(bytes));
    }
    return answer;
  }
}
