// Which requests count as calls for scheduling, audit and metrics: those that show names or contents of files, or change
// them.

import type { Effect, Tool } from "../contract/tool.ts";
import { append } from "../engine/append.ts";
import type { FaultCode } from "../engine/fault.ts";
import { beginning } from "../host/masked-tokens.ts";
import { isRecord } from "./jsonrpc.ts";
import type { Params } from "./method.ts";

export interface RecordedCall {
  readonly name: string;
  /** Whether there is such a tool. */
  readonly known: boolean;
  readonly effect: Effect;
  /** Its span has no children. */
  readonly leaf: boolean;
  /** The paths that it names. */
  readonly paths: readonly string[];
  /** Other parameters that say what it acts on. */
  readonly about?: Readonly<Record<string, string>>;
  /** The id of the trace that it belongs to. */
  readonly trace?: string;
}

/** The methods besides `tools/call` that show files, with what they name. */
const fileMethods: ReadonlyMap<string, (params: Params) => string[]> = new Map([
  ["resources/read", ({ uri }: Params) => textsIn(uri)],
  // Lists the names in a directory that begin so.
  ["completion/complete", ({ argument }: Params) => (isRecord(argument) ? textsIn(argument.value) : [])],
]);

/** Undefined for the methods that show no file. `find` finds a tool by the name in a call. */
export function recordedCall(
  find: (name: unknown) => Tool | undefined,
  method: string,
  params: Params,
  trace?: string,
): RecordedCall | undefined {
  if (method !== "tools/call") {
    const paths = fileMethods.get(method)?.(params);
    return paths && { name: method, known: true, effect: "reads", leaf: false, paths, trace };
  }
  const tool = find(params.name);
  const { effect = "reads", leaf = false, paths = [], about } = tool ?? {};
  const given = isRecord(params.arguments) ? params.arguments : {};
  return {
    name: tool?.name ?? beginning(textsIn(params.name).join(), 100),
    known: tool !== undefined,
    effect,
    leaf,
    paths: namedPaths(given, paths),
    ...(about && { about: textsOf(given, about) }),
    trace,
  };
}

/** The paths in the parameters that hold some. A loop, since every call has it: `flatMap` costs as much as a span. */
export function namedPaths(given: Params, parameters: readonly string[]): string[] {
  const paths: string[] = [];
  for (const parameter of parameters) {
    const value = given[parameter];
    if (typeof value === "string") paths.push(value);
    else if (value !== undefined) append(paths, textsIn(value));
  }
  return paths;
}

/** The faults that mean: the caller may not do that, whether or not it could be done. */
const denials: ReadonlySet<string> = new Set<FaultCode>([
  "denied",
  "forbidden",
  "irrevocable",
  "outside_roots",
  "protected_root",
  "read_only",
  "state_in_root",
]);

function textsOf(given: Params, parameters: readonly string[]): Record<string, string> {
  const all = parameters.map(name => [name, given[name]]);
  return Object.fromEntries(all.filter(([, value]) => typeof value === "string"));
}

/** The policy decision, for the record. */
export function decisionOf(fault: string | undefined): "denied" | "allowed" {
  return fault !== undefined && denials.has(fault) ? "denied" : "allowed";
}

/** The texts in a parameter that holds one or several. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.filter(one => typeof one === "string") : [];
}
