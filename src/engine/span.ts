// Spans: what a part of the engine is doing, for as long as it takes. The engine knows no tracer; where none is set,
// a span costs one comparison. A span holds names and counts, never paths, patterns or contents.

export type SpanName = "walk" | "ripgrep" | "merge" | "commit" | "flush" | "command" | "store";

export interface Span extends Disposable {
  set(name: string, value: string | number): void;
  fail(error: unknown): void;
}

/** Begins a span; undefined if tracing is off. */
export type Tracer = (name: SpanName) => Span | undefined;

let tracer: Tracer | undefined;

/** Sets the tracer of the process; undefined turns tracing off. */
export function traceWith(to: Tracer | undefined): void {
  tracer = to;
}

/** Begins a span, which its caller ends: `using span = startSpan("walk")`. */
export function startSpan(name: SpanName): Span | undefined {
  return tracer?.(name);
}

/** Runs an action as a span, which fails where the action does. */
export function traced<T>(name: SpanName, action: (span: Span | undefined) => Promise<T>): Promise<T> {
  const span = tracer?.(name);
  return span === undefined ? action(undefined) : within(span, action);
}

async function within<T>(span: Span, action: (span: Span) => Promise<T>): Promise<T> {
  using running = span;
  try {
    return await action(running);
  } catch (error) {
    running.fail(error);
    throw error;
  }
}
