// A tool: a published name, description and schema, and the few lines that turn parameters into engine calls and
// engine values into the contract's words.
import type { CallContext } from "./context.ts";
import type { Infer, ObjectSchema } from "./schema.ts";

/** What a tool may do. Read-only mode, `--no-run` and tokens decide by this. */
export type Effect = "reads" | "writes" | "runs";

/** A tool: its published name, description and schema, and what it does. */
export interface Tool<S extends ObjectSchema = ObjectSchema> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: S;
  /** A wider schema to accept, if the tool reports errors itself. */
  readonly accepts?: ObjectSchema;
  /** Refuse parameters that the schema does not name, even if it does not say so: definitions cost tokens. */
  readonly closed?: boolean;
  /** Declared where a tool answers with structured content. */
  readonly output?: ObjectSchema;
  readonly effect: Effect;
  /** Only looks at the files that it names: it walks no tree and runs no program, so a trace shows nothing inside it. */
  readonly leaf?: boolean;
  /** Whether it may destroy existing content. Only for tools that write; default true. */
  readonly destructive?: boolean;
  /** Whether it is idempotent. Default: true for tools that read. */
  readonly idempotent?: boolean;
  /** Which parameters hold paths: the confinement suite attacks these. */
  readonly paths?: readonly (keyof Infer<S> & string)[];
  /** Which other parameters say what a call acts on, for the record. */
  readonly about?: readonly (keyof Infer<S> & string)[];
  /** The file that such a path is in, where a path may also name a part of a file. */
  readonly fileOf?: (path: string, call: CallContext) => string;
  /** Old or foreign names of parameters, accepted but not advertised: alias → name. The proper name wins. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The page that shows its answers, in clients that render pages. */
  readonly page?: "review";
  /** For clients, besides the schema: how large its answers may be, for example. */
  readonly meta?: Readonly<Record<string, unknown>>;
  run(params: Infer<S>, call: CallContext): Promise<Reply> | Reply;
}

/** Types the parameters of `run` from the schema's literal, then forgets the literal so that tools fit in one list. */
export function tool<const S extends ObjectSchema>(spec: Tool<S>): Tool {
  return spec as unknown as Tool;
}

/** One part of an answer: text, an image, audio or a resource. */
export type Content =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mimeType: string }
  | { readonly type: "blob"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType?: string } & (
        | { readonly text: string }
        | { readonly blob: string }
      );
    };

/** The reply of a tool. */
export interface Reply {
  readonly content: readonly Content[];
  readonly structured?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** A reply of one text item. */
export function text(body: string, structured?: Readonly<Record<string, unknown>>): Reply {
  const content = [{ type: "text", text: body } as const];
  return structured === undefined ? { content } : { content, structured };
}
