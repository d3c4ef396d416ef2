// The part of JSON Schema that tool contracts use, as types: a tool's input is the literal that goes on the wire, and
// `Infer` derives the TypeScript types of its parameters, so the two cannot drift apart.

/** The part of JSON Schema that tools use. */
export type Schema = {
  readonly type?: TypeName | readonly TypeName[];
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly (string | number | boolean)[];
  readonly const?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression that the string must match. */
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
};

export type TypeName = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

/** What every tool's input is: one flat object. */
export type ObjectSchema = Schema & {
  readonly type: "object";
  readonly properties: { readonly [name: string]: Schema };
};

/** The type of the values that a schema accepts, after validation: properties with a default are present. */
export type Infer<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly oneOf: readonly (infer O)[] }
      ? Infer<O>
      : S extends { readonly anyOf: readonly (infer O)[] }
        ? Infer<O>
        : S extends { readonly type: infer T }
          ? InferType<T extends readonly (infer U)[] ? U : T, S>
          : unknown;

type InferType<T, S> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? S extends { readonly items: infer I }
            ? Infer<I>[]
            : unknown[]
          : T extends "object"
            ? S extends { readonly properties: infer P }
              ? InferObject<P, S extends { readonly required: readonly (infer R)[] } ? R : never>
              : Record<string, unknown>
            : never;

type InferObject<P, Required> = Flat<
  { [K in keyof P as Present<P, K, Required> extends true ? K : never]: Infer<P[K]> } & {
    [K in keyof P as Present<P, K, Required> extends true ? never : K]?: Infer<P[K]>;
  }
>;

type Present<P, K extends keyof P, Required> = K extends Required
  ? true
  : P[K] extends { readonly default: unknown }
    ? true
    : false;

type Flat<T> = { [K in keyof T]: T[K] };
