// The name of a server in a client's configuration. Several projects coexist: an entry that serves other directories
// is replaced only on request.
import { basename, isAbsolute } from "node:path";
import { Unfit } from "./unfit.ts";

export interface NameRequest {
  /** As given by --name. */
  readonly name?: string | undefined;
  /** What our entry serves, as `servedBy` returns it. */
  readonly served: ReadonlySet<string>;
  readonly replace: boolean;
}

const standard = "polyfs";

/** The name to write under. `servers` are those of the file, each with its text. */
export function nameFor(
  servers: ReadonlyMap<string, string>,
  { name, served, replace }: NameRequest,
): string {
  const wanted = name ?? (replace ? standard : undefined);
  if (wanted !== undefined) {
    const there = servers.get(wanted);
    if (there !== undefined && !replace && !same(servedBy(there), served))
      throw new Unfit(
        `${wanted} serves something else there (${shown(there)}): choose another --name, or add --replace`,
      );
    return wanted;
  }
  const known = oursIn(servers).find(([, text]) => same(servedBy(text), served));
  if (known !== undefined) return known[0];
  if (!servers.has(standard)) return standard;
  const named = `${standard}-${labelOf(served)}`;
  for (let count = 1; ; count++) {
    const free = count === 1 ? named : `${named}-${count}`;
    if (!servers.has(free)) return free;
  }
}

/** The name of the entry to remove; undefined if there is none. */
export function nameToRemove(
  servers: ReadonlyMap<string, string>,
  { name, served }: NameRequest,
  anywhere: boolean,
): string | undefined {
  if (name !== undefined) return servers.has(name) ? name : undefined;
  const ours = oursIn(servers);
  const known = ours.find(([, text]) => same(servedBy(text), served));
  if (known !== undefined) return known[0];
  if (!anywhere || ours.length === 0) return undefined;
  if (ours.length > 1)
    throw new Unfit(`it has several: add --name with one of ${ours.map(([one]) => one).join(", ")}`);
  return ours[0]?.[0];
}

function oursIn(servers: ReadonlyMap<string, string>): [name: string, text: string][] {
  return [...servers].filter(([name]) => name === standard || name.startsWith(`${standard}-`));
}

/** The directories and URLs in the text of an entry, in any format: everything after the program. */
export function servedBy(text: string): ReadonlySet<string> {
  const words = [...text.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|^\s*-\s+([^"'\s].*)$/gm)].map(
    ([, double, single, bare]) => (double === undefined ? (single ?? bare ?? "") : unescaped(double)),
  );
  const program = words.findLastIndex(word => /(^|[\\/])polyfs\.cjs$/.test(word) || word === standard);
  return new Set(words.slice(program + 1).filter(isPlace));
}

function isPlace(word: string): boolean {
  return isAbsolute(word) || /^--allow-(read|write)=/.test(word) || /^(--allow-cwd$|https?:\/\/)/.test(word);
}

function unescaped(text: string): string {
  try {
    return JSON.parse(`"${text}"`);
  } catch {
    return text;
  }
}

function same(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(one => b.has(one));
}

function shown(text: string): string {
  return [...servedBy(text)].join(", ") || "not polyfs";
}

/** The first directory's name, as far as it fits into the name of a server. */
function labelOf(served: ReadonlySet<string>): string {
  const [first = ""] = served;
  const label = basename(first.replace(/^--allow-\w+=/, "")).replace(/[^A-Za-z0-9_-]+/g, "-");
  return label.replace(/^-+|-+$/g, "") || "2";
}
