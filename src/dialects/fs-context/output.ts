// Output schemas. Only `ok` is required, because a failure has the same schema: clients check structured content
// of failures, too.
import type { ObjectSchema, Schema } from "../../contract/schema.ts";

const failureSchema = {
  type: "object",
  description: "What went wrong, where ok is false.",
  properties: {
    code: { type: "string" },
    message: { type: "string" },
    path: { type: "string" },
    suggestion: { type: "string" },
  },
  required: ["code", "message"],
} as const satisfies Schema;

export function output(properties: { readonly [name: string]: Schema }): ObjectSchema {
  return {
    type: "object",
    properties: { ok: { type: "boolean" }, ...properties, error: failureSchema },
    required: ["ok"],
  };
}

/** The result of a batch for each path. */
export function results(properties: { readonly [name: string]: Schema }): Schema {
  return {
    type: "array",
    items: {
      type: "object",
      properties: { path: { type: "string" }, ok: { type: "boolean" }, ...properties, error: failureSchema },
      required: ["path", "ok"],
    },
  };
}

export const batchSummarySchema = {
  type: "object",
  properties: {
    total: { type: "integer" },
    succeeded: { type: "integer" },
    failed: { type: "integer" },
    totalSize: { type: "integer", description: "In bytes." },
  },
} as const satisfies Schema;
