// Where a tool's arguments can hold a path: the parameters that it declares, and every other string, because the check
// of an unexpected path is easily forgotten. Derived from the declarations, so a new tool is attacked at once.
import type { Schema } from "../../src/contract/schema.ts";
import type { Tool } from "../../src/contract/tool.ts";
import { patches } from "./patches.ts";
import { fields, type Spelling, sample } from "./sample.ts";

export interface Carrier {
  readonly name: string;
  /** Whether the tool declares it as a path, and that path alone decides: then a refusal is expected. */
  readonly decides: boolean;
  args(path: string): Record<string, unknown>;
}

export function carriersOf(tool: Tool, spelling: Spelling): Carrier[] {
  const places: Place[] = [];
  for (const [name, schema] of Object.entries(tool.input.properties)) {
    // Commands cover what a shell reads.
    if (tool.effect === "runs" && name === "command") continue;
    const declared = tool.paths?.includes(name as never) ?? false;
    places.push(...placesIn(tool, name, schema, spelling, declared));
  }
  for (const [alias, name] of Object.entries(tool.aliases ?? {})) {
    const schema = tool.input.properties[name];
    const declared = tool.paths?.includes(name as never) ?? false;
    if (schema?.type === "string")
      places.push({ at: name, name: alias, decides: declared, value: path => path });
  }
  return places.flatMap(({ at, name, decides, value }) =>
    (decides ? waysOf(tool) : [{}]).map((more: Record<string, unknown>) => ({
      name: [name, ...Object.keys(more)].join(", "),
      decides,
      args(path) {
        const { [at]: _, ...others } = sample(tool, spelling);
        return { ...others, [name.replace(/[^\w].*/, "")]: value(path), ...more };
      },
    })),
  );
}

/** Options that lead another way to the disk. */
const options: readonly Record<string, unknown>[] = [
  { recursive: true },
  { encoding: "base64" },
  { tail: 1 },
  { overwrite: true },
  { dry_run: true },
];

function waysOf(tool: Tool): Record<string, unknown>[] {
  const known = options.filter(option => Object.keys(option).every(name => name in tool.input.properties));
  return [{}, ...known];
}

interface Place {
  /** The parameter that is taken out of the sample. */
  readonly at: string;
  /** The parameter, and how the path is written in it. */
  readonly name: string;
  readonly decides: boolean;
  value(path: string): unknown;
}

function placesIn(tool: Tool, at: string, schema: Schema, { file }: Spelling, declared: boolean): Place[] {
  const place = (how: string, value: Place["value"], decides = false): Place => ({
    at,
    name: `${at}${how}`,
    decides,
    value,
  });
  if (at === "patch") {
    return Object.entries(patches).map(([how, { text, decides }]) => place(`: ${how}`, text, decides));
  }
  const places: Place[] = [];
  for (const form of schema.oneOf ?? schema.anyOf ?? [schema]) {
    if (form.type === "string" && form.enum === undefined) {
      places.push(place("", path => path, declared));
      if (isGlob(at)) places.push(...globs.map(([how, glob]) => place(`: ${how}`, glob)));
    }
    if (form.type !== "array") continue;
    const { items = {} } = form;
    if (items.type === "object") {
      for (const [field, { type }] of Object.entries(items.properties ?? {}))
        if (type === "string")
          places.push(place(`[].${field}`, path => [{ ...fields(items, tool), [field]: path }]));
    } else if (items.type === "string") {
      places.push(place("[]", path => [path]));
      if (declared) places.push(place("[], second", path => [file, path]));
      if (isGlob(at) || declared)
        places.push(...globs.map(([how, glob]) => place(`[]: ${how}`, path => [glob(path)])));
    }
  }
  return places;
}

const isGlob = (name: string) => /glob|pattern|exclude|include/i.test(name);

const globs: readonly (readonly [string, (path: string) => string])[] = [
  ["as a glob", path => `${path}*`],
  ["all below", path => `${path}/**`],
  ["in braces", path => `{${path},x}`],
];
