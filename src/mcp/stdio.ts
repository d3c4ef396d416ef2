// MCP over standard input and output: newline-delimited JSON, requests answered as they finish. Clients and piped
// scripts end by closing the input: running requests are finished and answered first.
import type { Readable, Writable } from "node:stream";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { Log } from "./log.ts";
import { MessageWriter } from "./message-writer.ts";
import type { Caller, MethodAnswer, ServerOptions } from "./method.ts";
import { type RecordedCall, recordedCall } from "./recorded-call.ts";
import { type Audit, Recorder, refusalEntry } from "./recorder.ts";
import type { RootsListener } from "./roots.ts";
import { createServer } from "./server.ts";
import { traceContextOf } from "./trace-context.ts";
import type { RequestTracing } from "./tracing.ts";

/** What is served on standard input and output. */
export interface StdioOptions extends ServerOptions {
  readonly log: Log;
  /** @internal */
  readonly audit?: Audit;
  /** Writes the entries of the audit that wait. @internal */
  readonly flushAudit?: () => void;
  /** @internal */
  readonly tracing?: RequestTracing;
  /** Rereads what may have changed, on SIGHUP. Without it, SIGHUP ends the server as other signals do. */
  readonly onReload?: () => void;
  /** Takes the client's roots, and each new list of them. Where absent the client is not asked. @internal */
  readonly onRoots?: RootsListener;
}

const maxLineBytes = 64 * 1024 * 1024;
/** Above these the next requests are not read: a client that does not read its answers waits for itself. */
const maxPendingBytes = 64 * 1024 * 1024;
const maxRunning = 1024;
/** How long calls have to stop after a disconnect or a signal. */
const graceMs = 2000;

interface StreamServer {
  /** Settles when the input has ended, every request is answered and everything is written. Never rejects. */
  readonly finished: Promise<void>;
  /** Ends now: running calls are stopped, and have a moment to clean up. */
  stop(): void;
}

/** Serves one client on a pair of streams. */
export function serveStream(
  options: StdioOptions,
  input: Readable,
  stream: Writable,
  write?: Writable["write"],
): StreamServer {
  let end = () => {};
  const ended = new Promise<void>(resolve => {
    end = resolve;
  });
  let stop = () => {};
  const stopped = new Promise<void>(resolve => {
    stop = resolve;
  });

  const output = new MessageWriter(stream, stop, { write, before: options.flushAudit });
  const send = output.send.bind(output);
  const recorder = recorderOf(options);
  const connection = new Connection({
    ...options,
    server: createServer({
      ...options,
      subscriptions: true,
      changingTools: options.onRoots !== undefined && options.dialect.offers !== undefined,
    }),
    send,
    settled: regulate,
    record: options.audit || options.tracing ? recording(options, recorder) : undefined,
    refused: recorder && (({ id, error }) => recorder.refused(refusalEntry(error, id))),
  });
  const lines = new LineSplitter(maxLineBytes, {
    line: line => connection.receive(line),
    tooLong: () => connection.refuse(`a line may have up to ${maxLineBytes} bytes`),
  });

  function regulate(): void {
    const full =
      output.pending > maxPendingBytes ||
      connection.load > maxRunning ||
      connection.bytesInProgress > maxPendingBytes;
    if (full && !input.isPaused()) input.pause();
    else if (!full && input.isPaused()) input.resume();
  }

  input.on("data", (chunk: Buffer) => {
    lines.push(chunk);
    regulate();
  });
  input.once("end", () => {
    lines.end();
    end();
  });
  input.once("error", end);
  input.once("close", end);
  output.onDrain(regulate);

  async function run(): Promise<void> {
    await Promise.race([ended, stopped]);
    connection.inputEnded();
    await Promise.race([connection.idle(), stopped]);
    connection.abort();
    await within(graceMs, output.isGone ? connection.changesEnded() : connection.idle());
    connection.close();
    recorder?.[Symbol.dispose]();
    options.tracing?.sessionEnded(connection.session, "stdio");
    await Promise.race([output.finished(), stopped]);
    await within(graceMs, output.finished());
    input.destroy();
  }
  return { finished: run(), stop };
}

function recorderOf({ engine, audit, flushAudit }: StdioOptions): Recorder | undefined {
  return audit && new Recorder(engine.workspace, { audit, flushesAudit: flushAudit !== undefined });
}

/** Records each call, and traces each request. */
function recording(
  { engine, dialect, tracing }: StdioOptions,
  recorder: Recorder | undefined,
): ConnectionOptions["record"] {
  const { prefix = "" } = dialect;
  const tools = new Map(
    dialect.tools.flatMap(tool => [tool.name, prefix + tool.name].map(name => [name, tool] as const)),
  );
  const find = (name: unknown) => (typeof name === "string" ? tools.get(name) : undefined);
  const recorded = (call: RecordedCall | undefined, caller: Caller, run: () => Promise<MethodAnswer>) => {
    if (recorder === undefined) return run();
    if (call === undefined) return recorder.unlessRefused({}, caller, run);
    const { workspace } = engine;
    const { bytes: bytesIn = 0 } = caller;
    return recorder.record({ dialect: dialect.name, workspace, bytesIn }, call, caller, run);
  };
  return (method, params, caller, run) => {
    const trace = traceContextOf(params, {});
    const call = recordedCall(find, method, params, trace.parent?.traceId);
    if (tracing === undefined) return recorded(call, caller, run);
    const { workspace } = engine;
    const request = { transport: "stdio", method, call, dialect: dialect.name, workspace, trace } as const;
    if (recorder === undefined) return tracing.request(request, caller, run);
    return tracing.request(request, caller, id => recorded(call && { ...call, trace: id }, caller, run));
  };
}

/** Serves this process's client until it disconnects. The caller then disposes of the engine and ends the process. */
export async function serveStdio(options: StdioOptions): Promise<void> {
  const { log } = options;
  const { stdin, stdout } = process;
  const write = stdout.write.bind(stdout);
  guardOutput();
  // A client that has closed our standard error must not end us.
  process.stderr.on("error", () => {});
  const survive = (error: unknown) => log.error("unexpected", error);
  process.on("uncaughtException", survive);
  process.on("unhandledRejection", survive);

  const server = serveStream(options, stdin, stdout, write);
  const onSignal = (signal: NodeJS.Signals) => {
    log.info(`ending on ${signal}`);
    server.stop();
  };
  process.once("SIGTERM", onSignal);
  process.once("SIGINT", onSignal);
  const onHangUp = (signal: NodeJS.Signals) => {
    if (options.onReload === undefined) return onSignal(signal);
    log.info(`rereading on ${signal}`);
    options.onReload();
  };
  process.on("SIGHUP", onHangUp);
  const watch = watchParent(stdin, () => {
    log.info("ending: the client is gone");
    server.stop();
  });
  await server.finished;
  clearInterval(watch);
  process.off("SIGTERM", onSignal);
  process.off("SIGINT", onSignal);
  process.off("SIGHUP", onHangUp);
  process.off("uncaughtException", survive);
  process.off("unhandledRejection", survive);
}

/** Only the protocol may write to standard output: other output goes to standard error. */
function guardOutput(): void {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for (const method of ["log", "info", "debug", "dir", "table"] as const) console[method] = console.error;
}

/**
 * A killed client closes the input, but leaves no sign that the answers are not read: while calls finish, a changed
 * parent process shows it.
 */
function watchParent(input: Readable, onGone: () => void): NodeJS.Timeout {
  const parent = process.ppid;
  const check = () => {
    if ((input.readableEnded || input.destroyed) && process.ppid !== parent) onGone();
  };
  return setInterval(check, 1000);
}

/** Waits for the promise, but not longer. */
async function within(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
