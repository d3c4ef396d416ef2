// JSON-RPC 2.0 as MCP uses it: parses lines and writes answers. It knows no method. Request ids are kept as the JSON
// text that the client sent, so any id (a 64-bit number, a float) is returned exactly, and is unambiguous as a map
// key.
import { isUtf8 } from "node:buffer";
import { JsonShape } from "./json-shape.ts";

export const ParseError = -32700;
export const InvalidRequest = -32600;
export const MethodNotFound = -32601;
export const InvalidParams = -32602;
export const InternalError = -32603;

/** A failure that is answered as a JSON-RPC error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}

/** A request id as JSON text. */
export type Id = string;

export interface JsonRpcRequest {
  readonly kind: "request";
  readonly id: Id;
  readonly method: string;
  readonly params: unknown;
}

export type JsonRpcMessage =
  | JsonRpcRequest
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "response"; readonly id: Id; readonly result: unknown; readonly error: unknown }
  | { readonly kind: "invalid"; readonly id: Id; readonly error: RpcError };

/** Smaller lines need no check before they are parsed. */
const largeLine = 65_536;
/** Messages in a batch. */
export const maxBatch = 256;

/** The messages of a line: one, or those of a batch. */
export function readLine(line: Buffer): JsonRpcMessage | readonly JsonRpcMessage[] {
  if (!isUtf8(line)) return invalid("null", ParseError, "Parse error: the line is not valid UTF-8");
  const problem = line.length > largeLine ? new JsonShape().take(line) : undefined;
  if (problem !== undefined) return invalid("null", InvalidRequest, `Invalid request: ${problem}`);
  const text = line.toString("utf8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("null", ParseError, "Parse error: the line is not valid JSON");
  }
  return messagesIn(value, text);
}

/** Larger lines are read in pieces. */
const inPieces = 1024 * 1024;

/** The same for a line of some megabytes; undefined for a shorter one. Other lines can be read meanwhile. */
export function readLargeLine(line: Buffer): Promise<JsonRpcMessage | readonly JsonRpcMessage[]> | undefined {
  return line.length > inPieces ? readInPieces(line) : undefined;
}

async function readInPieces(line: Buffer): Promise<JsonRpcMessage | readonly JsonRpcMessage[]> {
  const { parseLargeLine } = await import("./large-line.ts");
  const read = await parseLargeLine(line);
  if (read === "not UTF-8") return invalid("null", ParseError, "Parse error: the line is not valid UTF-8");
  if (read === "not JSON") return invalid("null", ParseError, "Parse error: the line is not valid JSON");
  if ("problem" in read) return invalid("null", InvalidRequest, `Invalid request: ${read.problem}`);
  return messagesIn(read.value, read.text);
}

function messagesIn(value: unknown, text: string): JsonRpcMessage | readonly JsonRpcMessage[] {
  if (!Array.isArray(value)) return classify(value, text);
  if (value.length === 0) return invalid("null", InvalidRequest, "Invalid request: an empty batch");
  if (value.length > maxBatch)
    return invalid("null", InvalidRequest, `Invalid request: a batch of more than ${maxBatch} messages`);
  return value.map(element => classify(element, text));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function classify(value: unknown, text: string): JsonRpcMessage {
  if (!isRecord(value)) return invalid("null", InvalidRequest, "Invalid request: not an object");
  const { jsonrpc, method, params } = value;
  const hasId = value.id !== undefined;
  const id = idText(value.id, text);
  if (method === undefined && (value.result !== undefined || value.error !== undefined)) {
    // Never answered, whatever its id: two sides that answer each other's errors would not stop.
    return { kind: "response", id: id ?? "null", result: value.result, error: value.error };
  }
  if (id === undefined && hasId)
    return invalid("null", InvalidRequest, "Invalid request: id must be a string or number");
  if (jsonrpc !== "2.0")
    return invalid(id ?? "null", InvalidRequest, 'Invalid request: jsonrpc must be "2.0"');
  if (typeof method !== "string")
    return invalid(id ?? "null", InvalidRequest, "Invalid request: method must be a string");
  return id === undefined
    ? { kind: "notification", method, params }
    : { kind: "request", id, method, params };
}

function invalid(id: Id, code: number, message: string): JsonRpcMessage {
  return { kind: "invalid", id, error: new RpcError(code, message) };
}

/** The id as JSON text; undefined if it is invalid. */
export function idText(id: unknown, source = ""): Id | undefined {
  if (typeof id === "number") return exactNumber(id, source);
  return typeof id === "string" ? JSON.stringify(id) : undefined;
}

/** JavaScript rounds integers over 2^53: the client's digits are in the source text. */
function exactNumber(id: number, source: string): Id {
  if (Math.abs(id) <= Number.MAX_SAFE_INTEGER) return JSON.stringify(id);
  for (const [, digits = ""] of source.matchAll(/"id"\s*:\s*(-?[\d.eE+-]+)/g)) {
    if (Number(digits) === id) return digits;
  }
  return JSON.stringify(id);
}

/** A message to be written, in parts, so that a large body is not copied to put a frame around it. */
export type Frame = readonly JsonPart[];

/** JSON, or a text that is still to be written as JSON. */
export type JsonPart = string | LargeText;

export class LargeText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** The answer to a request. `json` is the result, encoded. */
export function resultFrame(id: Id, json: string | readonly JsonPart[]): Frame {
  const head = `{"jsonrpc":"2.0","id":${id},"result":`;
  return typeof json === "string" ? [head + json, "}"] : [head, ...json, "}"];
}

/** The length of a message in units of UTF-16, before large texts are escaped. */
export function frameLength(frame: Frame): number {
  let length = 0;
  for (const part of frame) length += typeof part === "string" ? part.length : part.text.length;
  return length;
}

/** A message as one text. */
export function wholeText(frame: Frame): string {
  return frame.map(part => (typeof part === "string" ? part : JSON.stringify(part.text))).join("");
}

export function errorFrame(
  id: Id,
  { code, message, data }: Pick<RpcError, "code" | "message" | "data">,
): Frame {
  return [`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, data })}}`];
}

export function notificationFrame(method: string, params?: unknown): Frame {
  return [JSON.stringify({ jsonrpc: "2.0", method, params })];
}

export function requestFrame(id: Id, method: string, params?: unknown): Frame {
  const rest = params === undefined ? "" : `,"params":${JSON.stringify(params)}`;
  return [`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}${rest}}`];
}
