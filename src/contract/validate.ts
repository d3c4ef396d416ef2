// Checks parameters against a tool's schema by interpreting it: nothing is compiled, so starting costs nothing,
// and small calls pay a few microseconds. Defaults are filled in; the caller's object is never changed.
import { append } from "../engine/append.ts";
import { Fault, type ParameterIssue } from "../engine/fault.ts";
import type { Schema, TypeName } from "./schema.ts";
import type { Tool } from "./tool.ts";

export function validate(tool: Tool, params: unknown): unknown {
  const issues: ParameterIssue[] = [];
  const value = check(
    tool.accepts ?? tool.input,
    renamed(params ?? {}, tool.aliases),
    "",
    issues,
    tool.closed,
  );
  if (issues.length > 0) throw new Fault("invalid_params", { issues });
  return value;
}

function renamed(params: unknown, aliases: Tool["aliases"]): unknown {
  if (aliases === undefined || !isObject(params)) return params;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(params)) {
    const name = Object.hasOwn(aliases, key) ? (aliases[key] ?? key) : key;
    if (name === key || !Object.hasOwn(params, name)) result[name] = value;
  }
  return result;
}

/** `closed`: refuse unknown properties, whatever the schema says. */
function check(
  schema: Schema,
  value: unknown,
  at: string,
  issues: ParameterIssue[],
  closed = schema.additionalProperties === false,
): unknown {
  const fail = (rule: string, expected: string) => {
    issues.push({ at, rule, expected, got: describe(value) });
    return value;
  };
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) {
    let nearest: readonly ParameterIssue[] | undefined;
    for (const option of options) {
      const found: ParameterIssue[] = [];
      const checked = check(option, value, at, found);
      if (found.length === 0) return checked;
      // Of the right type, but wrong in itself: that is the problem to report.
      if (!found.some(issue => issue.at === at && issue.rule === "type")) nearest ??= found;
    }
    if (nearest !== undefined) {
      append(issues, nearest);
      return value;
    }
    return fail("type", options.map(expectation).join(" or "));
  }
  if (schema.type !== undefined && !isOfType(value, schema.type)) return fail("type", expectation(schema));
  if (schema.enum !== undefined && !schema.enum.includes(value as string))
    return fail("enum", expectation(schema));
  if (schema.const !== undefined && schema.const !== value)
    return fail("const", JSON.stringify(schema.const));
  if (typeof value === "number") {
    if (schema.minimum !== undefined && value < schema.minimum)
      return fail("minimum", `at least ${schema.minimum}`);
    if (schema.maximum !== undefined && value > schema.maximum)
      return fail("maximum", `at most ${schema.maximum}`);
  } else if (typeof value === "string") {
    if (value.length < (schema.minLength ?? 0))
      return fail("minLength", `at least ${count(schema.minLength, "character")}`);
    if (value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY)) {
      return fail("maxLength", `at most ${count(schema.maxLength, "character")}`);
    }
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) {
      return fail("pattern", `a text that matches ${schema.pattern}`);
    }
  } else if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0))
      return fail("minItems", `at least ${count(schema.minItems, "item")}`);
    if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) {
      return fail("maxItems", `at most ${count(schema.maxItems, "item")}`);
    }
    const { items } = schema;
    return items === undefined ? value : value.map((item, i) => check(items, item, `${at}[${i}]`, issues));
  } else if (isObject(value) && schema.properties !== undefined) {
    return checkObject(schema, schema.properties, value, at, issues, closed);
  }
  return value;
}

function checkObject(
  schema: Schema,
  properties: { readonly [name: string]: Schema },
  value: Record<string, unknown>,
  at: string,
  issues: ParameterIssue[],
  closed: boolean,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  const path = (name: string) => (at === "" ? name : `${at}.${name}`);
  for (const name in value) {
    if (Object.hasOwn(properties, name)) continue;
    if (closed) {
      issues.push({
        at: path(name),
        rule: "unknown",
        expected: "no such parameter",
        got: describe(value[name]),
      });
    } else result[name] = value[name];
  }
  for (const name in properties) {
    const property = properties[name] as Schema;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const required = schema.required?.includes(name) ?? false;
    // Several clients send null for a parameter that they leave out.
    if (given === undefined || (given === null && !required && !isOfType(null, property.type ?? "null"))) {
      if (required)
        issues.push({ at: path(name), rule: "required", expected: expectation(property), got: "nothing" });
      else if (property.default !== undefined) result[name] = ownCopy(property.default);
    } else result[name] = check(property, given, path(name), issues);
  }
  return result;
}

/** A default that the tool may change. */
function ownCopy(value: unknown): unknown {
  return typeof value === "object" ? structuredClone(value) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isOfType(value: unknown, type: TypeName | readonly TypeName[]): boolean {
  if (typeof type !== "string") return type.some(one => isOfType(value, one));
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    default:
      return typeof value === type;
  }
}

function count(number: number | undefined, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function expectation(schema: Schema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.map(one => JSON.stringify(one)).join(", ")}`;
  const options = schema.oneOf ?? schema.anyOf;
  if (options !== undefined) return options.map(expectation).join(" or ");
  const { type } = schema;
  const names = type === undefined ? ["a value"] : typeof type === "string" ? [type] : type;
  return names
    .map(name => (/^[aeiou]/.test(name) ? `an ${name}` : name.startsWith("a ") ? name : `a ${name}`))
    .join(" or ");
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  const shown = JSON.stringify(value) ?? typeof value;
  return shown.length > 80 ? `${shown.slice(0, 77)}…` : shown;
}
