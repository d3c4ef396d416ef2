// File names in unified diffs: quoted with C escapes, with or without the prefixes a/ and b/, with a timestamp.

const nothing = "/dev/null";

/** The name in a `---`, `+++` or `rename from` line: without quotes and without a trailing timestamp. */
export function nameIn(value: string): string {
  if (value.startsWith('"')) return unquoted(value)?.name ?? value;
  const tab = value.indexOf("\t");
  const name = tab >= 0 ? value.slice(0, tab) : value;
  return name.replace(/ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d.*$/, "");
}

/** Whether the timestamp after a name is the start of time, which is how diff says that there is no such file. */
export function isEpoch(value: string | undefined): boolean {
  return value !== undefined && /\t(1970-01-01|1969-12-31) \d\d:\d\d:\d\d(\.0+)?/.test(value);
}

/** Names without the prefixes that git puts before them; undefined for /dev/null. */
export function stripPrefixes(from: string, to: string, git?: string): { from?: string; to?: string } {
  const header = git === undefined ? undefined : rawHeaderNames(git);
  const prefixed =
    header !== undefined
      ? header.from.startsWith("a/") && header.to.startsWith("b/")
      : (from === nothing || from.startsWith("a/")) && (to === nothing || to.startsWith("b/"));
  const strip = (name: string) => (prefixed ? name.slice(2) : name);
  return { ...(from !== nothing && { from: strip(from) }), ...(to !== nothing && { to: strip(to) }) };
}

/** Both names of a `diff --git` line, without prefixes. */
export function headerNames(git: string): { from?: string; to?: string } | undefined {
  const raw = rawHeaderNames(git);
  return raw && stripPrefixes(raw.from, raw.to);
}

/** Names with blanks are not quoted; they can be separated if both are the same. */
function rawHeaderNames(git: string): { from: string; to: string } | undefined {
  if (git.startsWith('"')) {
    const first = unquoted(git);
    if (first === undefined) return undefined;
    const rest = git.slice(first.length).trimStart();
    return { from: first.name, to: rest.startsWith('"') ? (unquoted(rest)?.name ?? rest) : rest };
  }
  const quoted = git.indexOf(' "');
  if (quoted > 0) return { from: git.slice(0, quoted), to: unquoted(git.slice(quoted + 1))?.name ?? "" };
  for (let at = git.indexOf(" "); at >= 0; at = git.indexOf(" ", at + 1)) {
    const [from, to] = [git.slice(0, at), git.slice(at + 1)];
    if (from === to || (from.startsWith("a/") && to.startsWith("b/") && from.slice(2) === to.slice(2)))
      return { from, to };
  }
  const parts = git.split(" ");
  const [from, to] = parts;
  return parts.length === 2 && from !== undefined && to !== undefined ? { from, to } : undefined;
}

const escapes: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 34,
  "\\": 92,
};

/** A name in quotes at the start of a text, and how many characters it takes with them. */
function unquoted(value: string): { readonly name: string; readonly length: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = 1; at < value.length; at++) {
    const char = String.fromCodePoint(value.codePointAt(at) ?? 0);
    if (char === '"') return { name: Buffer.concat(parts).toString("utf8"), length: at + 1 };
    if (char !== "\\") {
      parts.push(Buffer.from(char, "utf8"));
      at += char.length - 1;
      continue;
    }
    const octal = /^[0-3][0-7]{2}/.exec(value.slice(at + 1, at + 4))?.[0];
    const byte = octal === undefined ? escapes[value[at + 1] ?? ""] : Number.parseInt(octal, 8);
    if (byte === undefined) return undefined;
    parts.push(Buffer.from([byte]));
    at += octal === undefined ? 1 : 3;
  }
  return undefined;
}
