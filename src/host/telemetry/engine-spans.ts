// What the engine does inside a traced call, as spans of the OpenTelemetry API. Outside of one, and where the call is
// not sampled, nothing is made.
import { SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { Fault } from "../../engine/fault.ts";
import { type Span, traceWith } from "../../engine/span.ts";

export function traceEngine(tracer: Tracer): void {
  traceWith(name => (trace.getActiveSpan()?.isRecording() ? new EngineSpan(tracer, name) : undefined));
}

class EngineSpan implements Span {
  readonly #span;

  constructor(tracer: Tracer, name: string) {
    this.#span = tracer.startSpan(name);
  }

  set(name: string, value: string | number): void {
    this.#span.setAttribute(`polyfs.${name}`, value);
  }

  /** The message may hold a path; the code does not. */
  fail(error: unknown): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.#span.setAttribute("error.type", error instanceof Fault ? error.code : "internal");
  }

  [Symbol.dispose](): void {
    this.#span.end();
  }
}
