// Files as lines, for the model: every byte that an operation does not touch stays. Bytes that are not UTF-16 are
// carried one to one, so that it does not matter which encoding they are in.
export interface Line {
  readonly text: string;
  readonly end: string;
}

type Form = "bytes" | "utf16le" | "utf16be";

export interface Content {
  readonly form: Form;
  readonly mark: Buffer;
  readonly lines: readonly Line[];
}

const marks: readonly (readonly [Form, Buffer])[] = [
  ["bytes", Buffer.from([0xef, 0xbb, 0xbf])],
  ["utf16le", Buffer.from([0xff, 0xfe])],
  ["utf16be", Buffer.from([0xfe, 0xff])],
];

export function contentOf(bytes: Buffer): Content {
  const [form, mark] = marks.find(([, one]) => bytes.subarray(0, one.length).equals(one)) ?? [
    "bytes" as const,
    Buffer.alloc(0),
  ];
  const raw = Buffer.from(bytes.subarray(mark.length));
  const text = form === "bytes" ? raw.toString("latin1") : swapped(form, raw).toString("utf16le");
  return { form, mark, lines: linesIn(text) };
}

export function bytesOf({ form, mark, lines }: Content): Buffer {
  const text = lines.map(line => line.text + line.end).join("");
  const raw = form === "bytes" ? Buffer.from(text, "latin1") : swapped(form, Buffer.from(text, "utf16le"));
  return Buffer.concat([mark, raw]);
}

export function linesIn(text: string): Line[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map(whole => {
    const end = /\r?\n$/.exec(whole)?.[0] ?? "";
    return { text: whole.slice(0, whole.length - end.length), end };
  });
}

function swapped(form: Form, bytes: Buffer): Buffer {
  return form === "utf16be" ? bytes.swap16() : bytes;
}

/** A text from a caller, as it is carried in a file of this form. */
export function carried({ form }: Content, text: string): string {
  return form === "bytes" ? Buffer.from(text, "utf8").toString("latin1") : text;
}

/** A carried line as a caller sees it; undefined if it is not UTF-8. */
export function seen({ form }: Content, text: string): string | undefined {
  if (form !== "bytes") return text;
  const bytes = Buffer.from(text, "latin1");
  const decoded = bytes.toString("utf8");
  return Buffer.from(decoded, "utf8").equals(bytes) ? decoded : undefined;
}

export function isBinary(bytes: Buffer): boolean {
  return contentOf(bytes).form === "bytes" && bytes.includes(0);
}

interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly added: readonly string[];
}

/** What turns `a` into `b`. Lines are almost unique, so there is rarely a choice. */
function hunksOf(a: readonly string[], b: readonly string[]): Hunk[] {
  const common = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number) => common[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const row = common[i];
      if (row) row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const hunks: Hunk[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const [fromA, fromB] = [i, j];
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) i++;
      else j++;
    }
    if (i > fromA || j > fromB) hunks.push({ start: fromA, end: i, added: b.slice(fromB, j) });
    while (i < a.length && j < b.length && a[i] === b[j]) {
      i++;
      j++;
    }
  }
  return hunks;
}

/** `sure` is false if changes touch each other: then it may also be refused, and the order is open. */
export type Merge = { readonly lines: readonly string[]; readonly sure: boolean } | "overlap";

/** Carries what was changed from `base` to `ours` over into `theirs`. */
export function merged(base: readonly string[], ours: readonly string[], theirs: readonly string[]): Merge {
  const mine = hunksOf(base, ours);
  const others = hunksOf(base, theirs);
  let sure = true;
  const left = mine.filter(one => {
    const same = others.some(
      other => other.start === one.start && other.end === one.end && `${other.added}` === `${one.added}`,
    );
    return !same;
  });
  if (left.length < mine.length) sure = false;
  for (const one of left)
    for (const other of others) {
      if (one.start < other.end && other.start < one.end) return "overlap";
      if (one.start === one.end && other.start === other.end && one.start === other.start) return "overlap";
      if (one.end >= other.start && other.end >= one.start) sure = false;
    }
  const all = [...left, ...others].sort((a, b) => a.start - b.start || a.end - b.end);
  const lines: string[] = [];
  let at = 0;
  for (const { start, end, added } of all) {
    lines.push(...base.slice(at, start), ...added);
    at = Math.max(at, end);
  }
  lines.push(...base.slice(at));
  // A last line without its end, after which something comes, is a question of its own.
  if (lines.slice(0, -1).some(line => !line.endsWith("\n"))) sure = false;
  return { lines, sure };
}
