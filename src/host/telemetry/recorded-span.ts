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
import { member, nanoseconds, sharedMembers } from "./otlp.ts";

interface Beginning {
  readonly context: SpanContext;
  readonly name: string;
  readonly kind?: SpanKind;
  readonly parent?: SpanContext;
  /** They do not change, and other spans may have the same. */
  readonly attributes?: Attributes;
  readonly links?: readonly Link[];
}

export class RecordedSpan implements Span {
  readonly #beginning: Beginning;
  readonly #onEnd: (span: RecordedSpan) => void;
  readonly #start = now();
  /** Set after the beginning. */
  #more: Attributes | undefined;
  #name: string;
  #end: number | undefined;
  #status = SpanStatusCode.UNSET;

  constructor(beginning: Beginning, onEnd: (span: RecordedSpan) => void) {
    this.#beginning = beginning;
    this.#name = beginning.name;
    this.#onEnd = onEnd;
  }

  spanContext(): SpanContext {
    return this.#beginning.context;
  }

  setAttribute(key: string, value: AttributeValue): this {
    return this.setAttributes({ [key]: value });
  }

  setAttributes(attributes: Attributes): this {
    this.#more = this.#more === undefined ? attributes : { ...this.#more, ...attributes };
    return this;
  }

  setStatus(status: SpanStatus): this {
    this.#status = status.code;
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

  /** As OTLP has it. Called when the batch is put together. */
  json(): string {
    const { context, kind = SpanKind.INTERNAL, parent, links = [] } = this.#beginning;
    const { traceId, spanId, traceFlags, traceState } = context;
    let text = `{"traceId":"${traceId}","spanId":"${spanId}"`;
    if (parent !== undefined) text += `,"parentSpanId":"${parent.spanId}"`;
    if (traceState !== undefined) text += `,"traceState":${JSON.stringify(traceState.serialize())}`;
    const flags = traceFlags | hasIsRemote | (parent?.isRemote ? isRemote : 0);
    // OTLP's kinds begin with "unspecified".
    text += `,"flags":${flags},"name":${JSON.stringify(this.#name)},"kind":${kind + 1}`;
    text += `,"startTimeUnixNano":"${nanoseconds(this.#start)}"`;
    text += `,"endTimeUnixNano":"${nanoseconds(this.#end ?? this.#start)}"`;
    text += `,"attributes":[${this.#attributes()}]`;
    if (links.length > 0)
      text += `,"links":${JSON.stringify(links.map(({ context: { traceId, spanId } }) => ({ traceId, spanId })))}`;
    return `${text},"status":${this.#status === SpanStatusCode.UNSET ? "{}" : `{"code":${this.#status}}`}}`;
  }

  #attributes(): string {
    const { attributes = {} } = this.#beginning;
    const more = this.#more ?? {};
    let members = sharedMembers(attributes);
    for (const key in more) {
      if (key in attributes) return sharedMembers({ ...attributes, ...more });
      const value = more[key];
      if (value !== undefined) members += `${members === "" ? "" : ","}${member(key, value)}`;
    }
    return members;
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
