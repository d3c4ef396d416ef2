// Two readings of a JSON Schema, by its usual words only: values that fit it, made at random, and whether a value
// fits it. Independent of the product's own, which is under test.
import type { Chance } from "../chance.ts";
import type { Json } from "./odd.ts";

export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** `text` gives a string for a property of this name. */
export function fitting(chance: Chance, schema: Schema, text: (name: string) => string, name = ""): Json {
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return fitting(chance, chance.pick(choices), text, name);
  if (schema.enum !== undefined) return chance.pick(schema.enum);
  switch (schema.type) {
    case "object": {
      const entries = Object.entries(schema.properties ?? {}).filter(
        ([key]) => schema.required?.includes(key) || chance.below(3) === 0,
      );
      return Object.fromEntries(entries.map(([key, one]) => [key, fitting(chance, one, text, key)]));
    }
    case "array": {
      const length = Math.max(schema.minItems ?? 0, chance.below(3));
      return Array.from({ length }, () => fitting(chance, schema.items ?? {}, text, name));
    }
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 0, Math.min(schema.maximum ?? 1000, chance.below(12)));
    case "boolean":
      return chance.below(2) === 0;
    default:
      return text(name);
  }
}

/** What does not fit, and where. */
export function misfit(schema: Schema, value: unknown, at = "$"): string | undefined {
  if (schema.const !== undefined && value !== schema.const) return `${at} is not ${schema.const}`;
  if (schema.enum !== undefined && !schema.enum.some(one => one === value)) return `${at} is not in its list`;
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices?.every(one => misfit(one, value, at) !== undefined)) return `${at} fits none of its choices`;
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  if (types !== undefined && !types.some(type => isOf(type, value))) return `${at} is not of type ${types}`;
  if (typeof value === "number" && schema.minimum !== undefined && value < schema.minimum)
    return `${at} is too small`;
  if (Array.isArray(value) && schema.items !== undefined) {
    for (const [i, item] of value.entries()) {
      const wrong = misfit(schema.items, item, `${at}[${i}]`);
      if (wrong !== undefined) return wrong;
    }
  }
  if (!isRecord(value)) return undefined;
  const missing = schema.required?.find(key => !(key in value));
  if (missing !== undefined) return `${at}.${missing} is missing`;
  for (const [key, item] of Object.entries(value)) {
    const known = schema.properties?.[key];
    const rest = schema.additionalProperties;
    if (known === undefined && rest === false) return `${at}.${key} is unknown`;
    const one = known ?? (typeof rest === "object" ? rest : undefined);
    const wrong = one && misfit(one, item, `${at}.${key}`);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function isOf(type: string, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
