// A span of time as people write it: `90s`, `30m`, `2h`, `1d`, `1w`.

const units: { readonly [unit: string]: number } = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** In milliseconds; undefined if the text is something else. */
export function timeAgo(text: string): number | undefined {
  const [, count, unit = ""] = /^(\d{1,6}(?:\.\d+)?)\s*([smhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (units[unit] ?? 0);
}
