// Lines to send: random bytes, random JSON, random messages, valid calls and corrupted calls.
import type { Chance } from "../chance.ts";
import type { Tool } from "./judge.ts";
import { type Json, oddString, oddValue, spoiled, spoiledText } from "./odd.ts";
import { fitting } from "./schema.ts";

const methods = [
  "ping",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "prompts/list",
  "logging/setLevel",
  "completion/complete",
  "notifications/initialized",
  "notifications/roots/list_changed",
  "notifications/progress",
  "roots/list",
  "no/such/method",
];

const texts = ["plain.txt", ".", "*.txt", "one", "two", "directory", "**/*", "new text\n", "x", "[a-z]+"];

/** A string that a parameter of this name may well have. */
export function textFor(chance: Chance, files: readonly string[], root: string): (name: string) => string {
  return name => {
    if (/path|file|root|dir|source|destination|from|to/i.test(name)) {
      const file = chance.pick(files);
      return chance.below(2) === 0 ? file : `${root}/${file}`;
    }
    return chance.pick(texts);
  };
}

export function callOf(chance: Chance, tool: Tool, id: string, text: (name: string) => string): Json {
  const args = fitting(chance, tool.inputSchema, text);
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name: tool.name, arguments: args } };
}

function messageOf(chance: Chance, id: string): Json {
  const message = { jsonrpc: "2.0", id, method: chance.pick(methods), params: oddValue(chance) };
  return chance.below(2) === 0 ? message : spoiled(chance, message);
}

/** A line as text, and the tool that it calls in due form, where it does. */
export function lineOf(
  chance: Chance,
  tools: readonly Tool[],
  id: string,
  text: (name: string) => string,
): { readonly line: string; readonly tool?: Tool } {
  const roll = chance.below(10);
  if (roll === 0) return { line: oddString(chance) };
  if (roll === 1) return { line: JSON.stringify(oddValue(chance)) };
  if (roll <= 3) return { line: spoiledText(chance, messageOf(chance, id)) };
  const tool = chance.pick(tools);
  const call = callOf(chance, tool, id, text);
  if (roll <= 5) return { line: JSON.stringify(call), tool };
  return { line: spoiledText(chance, roll <= 8 ? spoiled(chance, call) : call) };
}
