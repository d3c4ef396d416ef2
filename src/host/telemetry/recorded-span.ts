// A span that is recorded, in the shape in which OTLP has it, and the times of spans.
import {
  type Attributes,
  type AttributeValue,
  type Link,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
} from "@opentelemetry/api";
import { clock } from "../../engine/clock.ts";
import { keyValues, nanoseconds } from "./otlp.ts";

interface Beginning {
  readonly context: SpanContext;
  readonly name: string;
  readonly kind?: SpanKind;
  readonly parent?: SpanContext;
  /** They are this span's from here on. */
  readonly attributes?: Attributes;
  readonly links?: readonly Link[];
}

export class RecordedSpan implements Span {
  readonly #beginning: Beginning;
  readonly #onEnd: (span: RecordedSpan) => void;
  readonly #start = now();
  readonly #attributes: Attributes;
  #name: string;
  #end: number | undefined;
  #status: SpanStatus = { code: SpanStatusCode.UNSET };

  constructor(beginning: Beginning, onEnd: (span: RecordedSpan) => void) {
    this.#beginning = beginning;
    this.#name = beginning.name;
    this.#attributes = beginning.attributes ?? {};
    this.#onEnd = onEnd;
  }

  spanContext(): SpanContext {
    return this.#beginning.context;
  }

  setAttribute(key: string, value: AttributeValue): this {
    this.#attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#status = status;
    return this;
  }

  updateName(name: string): this {
    this.#name = name;
    return this;
  }

  isRecording(): boolean {
    return this.#end === undefined;
  }

  end(): void {
    if (this.#end !== undefined) return;
    this.#end = now();
    this.#onEnd(this);
  }

  // Nothing here has events or links that come later.
  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  recordException(): void {}

  /** Called when the batch is put together. */
  toJSON(): object {
    const { context, kind = SpanKind.INTERNAL, parent, links = [] } = this.#beginning;
    return {
      traceId: context.traceId,
      spanId: context.spanId,
      ...(parent !== undefined && { parentSpanId: parent.spanId }),
      ...(context.traceState && { traceState: context.traceState.serialize() }),
      flags: context.traceFlags | hasIsRemote | (parent?.isRemote ? isRemote : 0),
      name: this.#name,
      kind: kind + 1, // OTLP begins with "unspecified"
      startTimeUnixNano: nanoseconds(this.#start),
      endTimeUnixNano: nanoseconds(this.#end ?? this.#start),
      attributes: keyValues(this.#attributes),
      ...(links.length > 0 && {
        links: links.map(({ context: { traceId, spanId } }) => ({ traceId, spanId })),
      }),
      status: this.#status.code === SpanStatusCode.UNSET ? {} : { code: this.#status.code },
    };
  }
}

const hasIsRemote = 0x100;
const isRemote = 0x200;

const mostDriftMs = 100;
let offset = Date.now() - clock();

/** The time of day with the clock's precision; set again where the time of day was. */
function now(): number {
  const ticked = clock();
  const wall = Date.now();
  if (Math.abs(wall - (ticked + offset)) > mostDriftMs) offset = wall - ticked;
  return ticked + offset;
}
