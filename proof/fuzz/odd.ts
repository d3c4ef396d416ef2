// Values that programs often mishandle, and ways to corrupt a valid value.
import type { Chance } from "../chance.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const strings: readonly string[] = [
  "",
  " ",
  ".",
  "..",
  "/",
  "~",
  "-",
  "--",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "\ufeff",
  "\u202e",
  "e\u0301",
  "\r",
  "\n",
  "\r\n",
  "%00",
  "%s%n",
  "$" + "{x}",
  "$&$1$`",
  "__proto__",
  "constructor",
  "toString",
  "file:///",
  "file://host/x",
  "(((((((((((((((((((",
  "(a+)+$",
  "[",
  "{a,b}{c,d}{e,f}",
  "**/**/**/**",
  "\\",
  "CON",
  "x".repeat(300),
  "../".repeat(50),
  "a/".repeat(3000),
];

const numbers: readonly number[] = [
  0,
  -0,
  1,
  -1,
  0.5,
  -1.5,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  1e21,
  1e308,
  -1e308,
  5e-324,
];

export function oddString(chance: Chance): string {
  const roll = chance.below(20);
  if (roll === 0) return "y".repeat(100_000);
  if (roll === 1) return "\u00e9\n".repeat(5000);
  if (roll < 5) return chance.bytes(chance.below(40)).toString("latin1");
  return chance.pick(strings);
}

export function oddValue(chance: Chance, depth = 3): Json {
  const roll = chance.below(depth > 0 ? 9 : 6);
  if (roll === 0) return null;
  if (roll === 1) return chance.below(2) === 0;
  if (roll <= 3) return chance.pick(numbers);
  if (roll <= 5) return oddString(chance);
  if (roll === 6) return Array.from({ length: chance.below(4) }, () => oddValue(chance, depth - 1));
  if (roll === 7) return nested(chance.below(mostNested));
  const entries = Array.from({ length: chance.below(4) }, () => [
    oddString(chance),
    oddValue(chance, depth - 1),
  ]);
  return Object.fromEntries(entries);
}

/** Large lines that are nested deeper than 1,000 levels are refused before it is known which request they hold. */
const mostNested = 900;

function nested(depth: number): Json {
  let value: Json = [];
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}

/** The same value, with something in it exchanged, taken away or added. */
export function spoiled(chance: Chance, value: Json): Json {
  if (typeof value !== "object" || value === null || chance.below(6) === 0) return oddValue(chance);
  if (Array.isArray(value)) {
    const list = [...value];
    const at = chance.below(list.length + 1);
    if (chance.below(3) === 0) list.splice(at, 1);
    else list[at] = at < list.length ? spoiled(chance, list[at] ?? null) : oddValue(chance);
    return list;
  }
  const entries = Object.entries(value);
  const at = chance.below(entries.length + 1);
  const [key, old] = entries[at] ?? [oddString(chance), null];
  const roll = chance.below(4);
  if (roll === 0) return Object.fromEntries(entries.filter(([one]) => one !== key));
  return Object.fromEntries([...entries, [key, roll === 1 ? oddValue(chance) : spoiled(chance, old)]]);
}

/** JSON as text, now and then in a form that no program would write. */
export function spoiledText(chance: Chance, value: Json): string {
  const text = JSON.stringify(value);
  switch (chance.below(12)) {
    case 0:
      return text.slice(0, chance.below(text.length + 1));
    case 1: {
      const at = chance.below(text.length + 1);
      return text.slice(0, at) + oddString(chance).replaceAll("\n", " ") + text.slice(at);
    }
    case 2:
      return text.replace("{", `{"id":"twice","jsonrpc":"1.0",`);
    case 3:
      return text.replace("{", `{"__proto__":{"id":"inherited"},"params":null,`);
    case 4:
      return text.replace(/:(\d+)/, ":1e999");
    case 5:
      return text.replace(/"([a-z])/g, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`);
    default:
      return text;
  }
}
