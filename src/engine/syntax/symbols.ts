// Looking for a declaration by its name. Two that fit are both named, and none is guessed.

import { Fault } from "../fault.ts";
import { editDistance } from "../text/distance.ts";
import type { Declared } from "./declared.ts";
import { declaredName } from "./declared-name.ts";
import { haveSameParameters } from "./parameters.ts";
import type { Structure } from "./structure.ts";

const mostNamed = 8;
/** Names that are compared for a suggestion: some 50 ms. */
const mostCompared = 10_000;

/** The one declaration of this name. Faults: `unknown_symbol` with the nearest names, `ambiguous_symbol`. */
export function symbolIn({ declared, cut, unparsed }: Structure, path: string, written: string): Declared {
  const wanted = plainName(written);
  const found = [named, asAssigned, byOwnName].reduce<readonly Declared[]>(
    (some, find) => (some.length > 0 ? some : find(declared, wanted)),
    [],
  );
  const best = defined(found);
  const [only] = best;
  if (only === undefined)
    throw new Fault("unknown_symbol", {
      path,
      symbol: written,
      nearest: nearest(declared, wanted),
      ...(cut && { compared: declared.length }),
      ...(unparsed && { unparsed }),
    });
  if (best.length > 1) {
    const candidates = best.map(({ name, top, to }) => ({ name, from: top, to }));
    throw new Fault("ambiguous_symbol", { path, symbol: written, candidates });
  }
  return only;
}

/** Those of this full name; if there are none, those whose name ends with it. */
function named(declared: readonly Declared[], wanted: string): Declared[] {
  const whole = declared.filter(one => plainName(one.name) === wanted);
  return whole.length > 0 ? whole : declared.filter(one => plainName(one.name).endsWith(`.${wanted}`));
}

/** The same for a name as an assignment writes it, which is also how an outline shows it: `A.prototype.b`. */
function asAssigned(declared: readonly Declared[], wanted: string): Declared[] {
  const isWritten = ({ head }: Declared) => head.replace(/\s*=.*$/s, "").replace(/\s+/g, "") === wanted;
  const name = declaredName(wanted);
  if (name === wanted) return declared.filter(isWritten);
  const found = named(declared, name);
  const written = found.filter(isWritten);
  return written.length > 0 ? written : found;
}

const ownName = /^[^(]*?=\s*(?:async\s+)?(?:class|function)\b\s*\*?\s*([\p{L}_$][\p{L}\p{N}_$]*)/u;

/** The same for the name that an assigned class or function has itself, as in `module.exports = class A`. */
export function byOwnName(declared: readonly Declared[], wanted: string): Declared[] {
  return declared.flatMap(holder => {
    const own = ownName.exec(holder.head)?.[1];
    if (own === undefined || !`${wanted}.`.startsWith(`${own}.`)) return [];
    const full = holder.name + wanted.slice(own.length);
    const isInside = ({ start, end }: Declared) => start >= holder.start && end <= holder.end;
    return declared.filter(one => one.name === full && isInside(one));
  });
}

/** `A::b`, `A#b`, `A/b` and `A.b()` are `A.b`. */
function plainName(name: string): string {
  return name
    .replace(/\(.*\)$/, "")
    .replace(/::|#(?=.)|(?<=\w)\/(?=\w)/g, ".")
    .trim();
}

/** Without declarations that only announce or extend another one that is there; locals come last. */
function defined(found: readonly Declared[]): readonly Declared[] {
  const real = found.filter(({ kind }) => kind !== "prototype" && kind !== "implementation");
  const isOverload = (one: Declared) =>
    one.kind === "prototype" && !real.some(other => haveSameParameters(one.head, other.head));
  const some = real.length > 0 ? found.filter(one => real.includes(one) || isOverload(one)) : found;
  const outer = some.filter(({ local, kind }) => !(local && kind === "variable"));
  return outer.length > 0 ? outer : some;
}

function nearest(declared: readonly Declared[], wanted: string): string[] {
  const last = wanted.slice(wanted.lastIndexOf(".") + 1).toLowerCase();
  const scored = declared.slice(0, mostCompared).flatMap(({ name, local, kind }) => {
    if (local && kind === "variable") return [];
    const own = plainName(name);
    const ownLast = own.slice(own.lastIndexOf(".") + 1).toLowerCase();
    const distance = editDistance(last.slice(0, 60), ownLast.slice(0, 60));
    const isPart = ownLast.includes(last) || (last.includes(ownLast) && 2 * ownLast.length >= last.length);
    const contains = last.length > 2 && isPart ? 0 : 1;
    const isNear = contains === 0 || distance <= Math.max(2, last.length / 2);
    return isNear ? [{ name, score: contains * 10 + distance }] : [];
  });
  const sorted = scored.sort((a, b) => a.score - b.score).map(({ name }) => name);
  return [...new Set(sorted)].slice(0, mostNamed);
}
