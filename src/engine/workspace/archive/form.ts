// Checks of values that were read from the disk: a wrong bit may have hit the name of a field or its value, and the file
// may come from anywhere. A type that is kept on the disk has a check for each of its fields, so whatever reads it can
// rely on the types. Unknown fields are ignored: a newer version may have written them.

export type Check<T> = (value: unknown) => value is T;

/** One for each field: a field that is added does not compile without one. */
export type FieldChecks<T> = { readonly [Name in keyof T]-?: Check<T[Name]> };

export const isText: Check<string> = value => typeof value === "string";
export const isTrue: Check<true> = value => value === true;
export const isFlag: Check<boolean> = value => typeof value === "boolean";
export const isNumber = numberThat(() => true);
export const isInteger = numberThat(Number.isInteger);

/** One that is neither infinite nor no number, either: JSON can hold the first, and sums make the second of it. */
export function numberThat(holds: (value: number) => boolean): Check<number> {
  return (value): value is number => typeof value === "number" && Number.isFinite(value) && holds(value);
}

export function fields<T>(checks: FieldChecks<T>): Check<T> {
  const all = Object.entries<Check<unknown>>(checks);
  return (value): value is T =>
    typeof value === "object" &&
    value !== null &&
    all.every(([name, is]) => is((value as Readonly<Record<string, unknown>>)[name]));
}

export function optional<T>(is: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || is(value);
}

export function list<T>(is: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(is);
}

export function pair<T, U>(isFirst: Check<T>, isSecond: Check<U>): Check<readonly [T, U]> {
  return (value): value is readonly [T, U] =>
    Array.isArray(value) && value.length === 2 && isFirst(value[0]) && isSecond(value[1]);
}

/** The words as keys: so none can be forgotten. */
export function oneOf<T extends string>(words: Readonly<Record<T, 0>>): Check<T> {
  return (value): value is T => typeof value === "string" && Object.hasOwn(words, value);
}
