// A tool's schema as people read it.
import type { ObjectSchema, Schema } from "../../contract/schema.ts";

export interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  /** On one line; "" if there is none. */
  readonly description: string;
  /** The default, as JSON. */
  readonly standard?: string;
}

export function parametersOf({ properties, required = [] }: ObjectSchema): Parameter[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    required: required.includes(name),
    type: typeOf(schema),
    description: (schema.description ?? "").replace(/\s+/g, " "),
    ...(schema.default !== undefined && { standard: JSON.stringify(schema.default) }),
  }));
}

/** `path, offset? = 1, limit?` */
export function signatureOf(input: ObjectSchema): string {
  const parts = parametersOf(input).map(
    ({ name, required, standard }) =>
      `${name}${required ? "" : "?"}${standard === undefined ? "" : `=${standard}`}`,
  );
  return parts.length === 0 ? "no parameters" : parts.join(", ");
}

/** `"a" | "b"`, `string[]`, `{ old: string, new?: string }[]`. */
function typeOf(schema: Schema): string {
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(" | ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) return options.map(typeOf).join(" | ");
  if (schema.type === undefined) return "any";
  return [schema.type]
    .flat()
    .map(type => typeNamed(String(type), schema))
    .join(" | ");
}

function typeNamed(type: string, schema: Schema): string {
  if (type === "array") {
    const item = schema.items === undefined ? "any" : typeOf(schema.items);
    return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
  }
  if (type !== "object" || schema.properties === undefined) return type;
  const members = Object.entries(schema.properties).map(
    ([name, member]) => `${name}${schema.required?.includes(name) ? "" : "?"}: ${typeOf(member)}`,
  );
  return `{ ${members.join(", ")} }`;
}

/** The approximate cost of a definition: a token is about four bytes of JSON and English. */
export function tokensOf(definition: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(definition)) / 4);
}
