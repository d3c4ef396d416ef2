// Whether what a server says is MCP: messages of JSON-RPC, results of the shape that they must have, structured
// content as its tool declares it.
import { isRecord, misfit, type Schema } from "./schema.ts";

export interface Tool {
  readonly name: string;
  readonly inputSchema: Schema;
  readonly outputSchema?: Schema;
  readonly annotations?: { readonly readOnlyHint?: boolean };
}

/** What is wrong with a message as such. */
export function messageFault(value: unknown): string | undefined {
  if (!isRecord(value)) return "it is no object";
  if (value.jsonrpc !== "2.0") return "jsonrpc is not 2.0";
  if (value.method !== undefined)
    return typeof value.method === "string" ? undefined : "its method is no string";
  const { id, result, error } = value;
  if ((result === undefined) === (error === undefined)) return "it has not exactly one of result and error";
  if (id !== null && typeof id !== "string" && typeof id !== "number") return "its id is no id";
  if (result !== undefined) return isRecord(result) ? undefined : "its result is no object";
  if (!isRecord(error) || !Number.isInteger(error.code) || typeof error.message !== "string")
    return "its error has no code or no message";
  return undefined;
}

/** What is wrong with the result of a call. */
export function resultFault(result: Readonly<Record<string, unknown>>, tool?: Tool): string | undefined {
  const { content, isError, structuredContent } = result;
  if (!Array.isArray(content)) return "the result has no content";
  const wrong = content.map(itemFault).find(fault => fault !== undefined);
  if (wrong !== undefined) return wrong;
  if (isError !== undefined && typeof isError !== "boolean") return "isError is no boolean";
  if (structuredContent !== undefined && !isRecord(structuredContent))
    return "structured content is no object";
  if (tool?.outputSchema === undefined || isError === true) return undefined;
  return structuredContent === undefined
    ? "structured content is missing"
    : misfit(tool.outputSchema, structuredContent);
}

const needed: Readonly<Record<string, readonly string[]>> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["uri", "name"],
};

function itemFault(item: unknown): string | undefined {
  if (!isRecord(item) || typeof item.type !== "string") return "an item of the content has no type";
  if (item.type === "resource") {
    const { resource } = item;
    const fine =
      isRecord(resource) && typeof resource.uri === "string" && ("text" in resource || "blob" in resource);
    return fine ? undefined : "a resource has no uri or nothing in it";
  }
  const parts = needed[item.type];
  if (parts === undefined) return `there is no content of type ${item.type}`;
  const missing = parts.find(part => typeof item[part] !== "string");
  if (missing !== undefined) return `content of type ${item.type} has no ${missing}`;
  const text = item.text;
  return typeof text === "string" && !text.isWellFormed() ? "a text is not valid Unicode" : undefined;
}

/** What must be answered to a line: an id as JSON, "null" for an error about no request, undefined for nothing. */
export function answerTo(line: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return "null";
  }
  if (!isRecord(value)) return "null";
  const { id, method, jsonrpc, result, error } = value;
  if (method === undefined && (result !== undefined || error !== undefined)) return undefined;
  const has = typeof id === "string" || typeof id === "number";
  if (id !== undefined && !has) return "null";
  const wellFormed = jsonrpc === "2.0" && typeof method === "string";
  if (!has) return wellFormed ? undefined : "null";
  return JSON.stringify(id);
}
