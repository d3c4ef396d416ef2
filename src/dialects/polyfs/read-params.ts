// The parameters of `read_file`, which its parts share.
import type { Infer } from "../../contract/schema.ts";

export const defaultLimit = 2000;

export const input = {
  type: "object",
  properties: {
    path: { type: "string", description: "file, file:10-40 or file#Class.method" },
    paths: { type: "array", items: { type: "string" } },
    offset: { type: "integer", default: 1, description: "First line; negative counts from the end." },
    limit: { type: "integer", minimum: 1, default: defaultLimit, description: "Lines." },
    outline: { type: "boolean", description: "Declarations only." },
    numbers: { type: "boolean", default: true },
    encoding: { type: "string", description: "Default: detected. base64 or hex for binary." },
    since: { type: "string", description: "A version: only what changed." },
  },
} as const;

/** The parameters that apply to each file. */
export type ReadParams = Omit<Infer<typeof input>, "path" | "paths">;
