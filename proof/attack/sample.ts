// Arguments that a tool accepts, made from its schema: the attacked parameter is surrounded by valid ones, which would
// let it through.
import type { Schema } from "../../src/contract/schema.ts";
import type { Tool } from "../../src/contract/tool.ts";

/** Texts by the names of parameters: an edit finds the secret if it gets there, a search matches it. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/^(old|search)/i, "SECRET"],
  [/^(new|replace|content)/i, "CHANGED\n"],
  [/^(query|regex)$/, "SECRET"],
  [/glob|exclude/i, "**/*"],
  [/^nameContains$/, "secret"],
  [/^command$/, "true"],
];

export interface Spelling {
  /** An existing file in the root. */
  readonly file: string;
  /** One that is not. */
  readonly fresh: string;
  readonly directory: string;
}

/** Arguments for everything that is required, and `given` instead of what is chosen. */
export function sample(
  tool: Tool,
  spelling: Spelling,
  given: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(tool.input.properties)) {
    if (name in given || !tool.input.required?.includes(name)) continue;
    made[name] = tool.paths?.includes(name as never)
      ? shaped(schema, ordinary(tool, name, spelling))
      : accepted(schema, name, tool);
  }
  return { ...made, ...given };
}

/** A path of the root where the attack is elsewhere. */
function ordinary(tool: Tool, name: string, { file, fresh, directory }: Spelling): string {
  if (/^(to|destination)$/.test(name)) return fresh;
  return /list|search|find|glob|tree|grep|workspace/.test(tool.name) && tool.effect === "reads"
    ? directory
    : file;
}

/** A path as the schema wants it: by itself or in a list. */
function shaped(schema: Schema, path: string): unknown {
  const [first = schema] = schema.oneOf ?? schema.anyOf ?? [];
  return first.type === "array" ? [path] : path;
}

function accepted(schema: Schema, name: string, tool: Tool): unknown {
  const one = schema.oneOf?.[0] ?? schema.anyOf?.[0] ?? schema;
  if (one.default !== undefined) return one.default;
  if (one.enum !== undefined) return one.enum[0];
  switch (one.type) {
    case "integer":
    case "number":
      return Math.max(1, one.minimum ?? 1);
    case "boolean":
      return false;
    case "array":
      return one.items === undefined ? [] : [accepted(one.items, name, tool)];
    case "object":
      return fields(one, tool);
    default:
      if (name === "pattern") return /glob|find|search_files/.test(tool.name) ? "**/*" : "SECRET";
      return texts.find(([like]) => like.test(name))?.[1] ?? "PUBLIC";
  }
}

/** The fields of an edit: what it replaces is not always required, and always needed. */
export function fields(schema: Schema, tool: Tool): Record<string, unknown> {
  const names = Object.keys(schema.properties ?? {}).filter(
    name => schema.required?.includes(name) || name === "old",
  );
  return Object.fromEntries(names.map(name => [name, accepted(schema.properties?.[name] ?? {}, name, tool)]));
}
