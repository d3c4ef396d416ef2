// Hides the values of a text, and restores them after an edit: the caller edits the masked text, and hidden values
// replace their placeholders. A placeholder that cannot be traced to one value is refused, and so is an edit that
// would reveal a hidden value.
import { foldCase } from "../../text/fold.ts";
import { diffLines, linesWithEndings } from "../../text/line-diff.ts";
import { jsonSecrets } from "./json.ts";
import { keyValueSecrets } from "./key-value.ts";
import { knownSecrets } from "./known-secrets.ts";
import { gitCredentialsSecrets, lastFieldSecrets, netrcSecrets } from "./password-files.ts";
import { type LabelledSecret, lineLabel, mostSecrets, placeholder, type Secret } from "./secret.ts";
import { tomlSecrets, yamlSecrets } from "./yaml.ts";

export type MaskFormat =
  | "key-value"
  | "json"
  | "yaml"
  | "toml"
  | "netrc"
  | "last-field"
  | "git-credentials"
  | "text";

const parsers: { readonly [format in MaskFormat]: (text: string) => Secret[] } = {
  "key-value": keyValueSecrets,
  json: jsonSecrets,
  yaml: yamlSecrets,
  toml: tomlSecrets,
  netrc: netrcSecrets,
  "last-field": lastFieldSecrets,
  "git-credentials": gitCredentialsSecrets,
  text: text => knownSecrets(text),
};

const formats: readonly (readonly [RegExp, MaskFormat])[] = [
  [/\.(?:json[c5]?|dockercfg)$|^\.dockercfg$/, "json"],
  [/\.ya?ml$|^\.kube\/config$/, "yaml"],
  [/\.toml$/, "toml"],
  [
    /^\.env|\.env$|\.(?:ini|cfg|cnf|conf|properties|tfvars|envrc)$|^\.(?:npmrc|pypirc|envrc|my\.cnf)$|^credentials$/,
    "key-value",
  ],
  [/^[._]netrc$/, "netrc"],
  [/^\.(?:pgpass|htpasswd)$/, "last-field"],
  [/^\.git-credentials$/, "git-credentials"],
];

/** By the names at the end of the file's path, which rules use too. */
export function maskFormat(path: string): MaskFormat {
  const names = foldCase(path).split("/").slice(-2);
  const forms = [names.at(-1) ?? "", names.join("/")];
  return formats.find(([form]) => forms.some(name => form.test(name)))?.[1] ?? "text";
}

/** What a mask hides of a text, in order: all of it where there is too much. */
export function hiddenSpans(text: string, format: MaskFormat): readonly Secret[] {
  return secretsIn(text, format) ?? [{ start: 0, end: text.length }];
}

/** Undefined if there are too many. */
function secretsIn(text: string, format: MaskFormat): readonly Secret[] | undefined {
  const secrets = parsers[format](text);
  return secrets.length > mostSecrets ? undefined : secrets;
}

/** Whether `to` hides every character of a text that `from` hides. */
export function hidesAsMuch(text: string, from: MaskFormat, to: MaskFormat): boolean {
  if (from === to) return true;
  const hidden = hiddenSpans(text, to);
  let next = 0;
  return hiddenSpans(text, from).every(({ start, end }) => {
    let reached = start;
    while (next < hidden.length && (hidden[next]?.end ?? 0) <= reached) next++;
    for (let i = next; i < hidden.length && (hidden[i]?.start ?? 0) <= reached; i++)
      reached = Math.max(reached, hidden[i]?.end ?? 0);
    return reached >= end;
  });
}

/** Undefined if there is too much to hide: such a text is not shown. */
export function mask(text: string, format: MaskFormat): string | undefined {
  const secrets = secretsIn(text, format);
  return secrets && hide(text, secrets);
}

/** The values to hide, and literal placeholders in the file, so that each one in the masked text has a span. */
function spansIn(text: string, secrets: readonly Secret[]): LabelledSecret[] {
  const literal = literalPlaceholders(text, isLiteral);
  let next = 0;
  const outside = literal.filter(one => {
    while (next < secrets.length && (secrets[next]?.end ?? 0) <= one.start) next++;
    return (secrets[next]?.start ?? Number.POSITIVE_INFINITY) >= one.end;
  });
  return labelled(text, inOrder(secrets, outside));
}

function literalPlaceholders<Label extends { label?: string }>(
  text: string,
  label: Label,
): (Secret & Label)[] {
  return placeholders(text).map(start => ({ start, end: start + placeholder.length, ...label }));
}

function inOrder(some: readonly Secret[], others: readonly Secret[]): readonly Secret[] {
  return others.length === 0 ? some : [...some, ...others].sort((a, b) => a.start - b.start);
}

/**
 * Labels spans that have no key by what is shown before them. A label with a hidden value in it would confirm a guess:
 * an edit is refused where a placeholder fits no label.
 */
function labelled(text: string, spans: readonly Secret[]): LabelledSecret[] {
  const shown = hide(text, spans);
  let drift = 0;
  return spans.map(({ start, end, label }) => {
    const at = start + drift;
    drift += placeholder.length - (end - start);
    return { start, end, label: label ?? lineLabel(shown, at) };
  });
}

const isLiteral = { label: "\0literal" };

/**
 * `edited` with the values of `original` put back. `edited` comes from an edit of the masked original. Undefined if
 * a placeholder has no single origin, a hidden value would show in the result, or there are too many.
 */
export function unmask(original: string, edited: string, format: MaskFormat): string | undefined {
  const known = secretsIn(original, format);
  if (known === undefined) return undefined;
  const secrets = spansIn(original, known);
  const masked = hide(original, secrets);
  const values = origins(masked, edited, format, secrets);
  if (values === undefined) return undefined;
  let result = "";
  const kept: [number, number][] = [];
  let at = 0;
  for (const [index, start] of placeholders(edited).entries()) {
    const secret = values[index] as LabelledSecret;
    result += edited.slice(at, start);
    if (secret.label !== isLiteral.label)
      kept.push([result.length, result.length + secret.end - secret.start]);
    result += original.slice(secret.start, secret.end);
    at = start + placeholder.length;
  }
  result += edited.slice(at);
  const hidden = secretsIn(result, format);
  if (hidden === undefined) return undefined;
  let next = 0;
  const isHidden = kept.every(([start, end]) => {
    while (next < hidden.length && (hidden[next]?.end ?? 0) < end) next++;
    return (hidden[next]?.start ?? Number.POSITIVE_INFINITY) <= start;
  });
  return isHidden ? result : undefined;
}

/** The secret behind each placeholder of `edited`, in order. */
function origins(
  masked: string,
  edited: string,
  format: MaskFormat,
  secrets: readonly LabelledSecret[],
): LabelledSecret[] | undefined {
  const [before, after] = [linesWithEndings(masked), linesWithEndings(edited)];
  const perLine = countPerLine(before);
  const firstOf = runningTotal(perLine);
  const changes = diffLines(masked, edited);
  const labels = placeholderLabels(edited, format);
  if (labels === undefined) return undefined;
  const byLabel = new Map<string, LabelledSecret[]>();
  for (const secret of secrets) {
    const same = byLabel.get(secret.label);
    if (same === undefined) byLabel.set(secret.label, [secret]);
    else same.push(secret);
  }
  const found: LabelledSecret[] = [];
  let change = 0;
  let drift = 0;
  for (const [line, content] of after.entries()) {
    while (changes[change] !== undefined && line >= (changes[change]?.bEnd ?? 0)) {
      const { aEnd = 0, bEnd = 0 } = changes[change] ?? {};
      drift = aEnd - bEnd;
      change++;
    }
    const isNew = changes[change] !== undefined && line >= (changes[change]?.bStart ?? 0);
    const count = placeholders(content).length;
    for (let i = 0; i < count; i++) {
      const unchanged = isNew ? undefined : secrets[(firstOf[line + drift] ?? 0) + i];
      const fitting = byLabel.get(labels[found.length] ?? "\0");
      const secret = unchanged ?? (fitting?.length === 1 ? fitting[0] : undefined);
      if (secret === undefined) return undefined;
      found.push(secret);
    }
  }
  return found;
}

/** The label of each placeholder, by the format's own rules. Undefined if there are too many. */
function placeholderLabels(edited: string, format: MaskFormat): (string | undefined)[] | undefined {
  const spans = secretsIn(edited, format);
  if (spans === undefined) return undefined;
  if (format === "text") {
    const own = literalPlaceholders(edited, {});
    const values = spans.filter(({ start, end }) => !edited.slice(start, end).includes(placeholder));
    const starts = new Set(own.map(({ start }) => start));
    return labelled(edited, inOrder(values, own)).flatMap(one => (starts.has(one.start) ? [one.label] : []));
  }
  const byStart = new Map(labelled(edited, spans).map(span => [span.start, span]));
  return placeholders(edited).map(start => {
    const span = byStart.get(start);
    return span?.end === start + placeholder.length ? span.label : undefined;
  });
}

function hide(text: string, secrets: readonly Secret[]): string {
  let result = "";
  let at = 0;
  for (const { start, end } of secrets) {
    result += text.slice(at, start) + placeholder;
    at = end;
  }
  return result + text.slice(at);
}

function placeholders(text: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(placeholder); at >= 0; at = text.indexOf(placeholder, at + placeholder.length))
    found.push(at);
  return found;
}

function countPerLine(lines: readonly string[]): number[] {
  return lines.map(line => placeholders(line).length);
}

function runningTotal(counts: readonly number[]): number[] {
  let total = 0;
  return counts.map(count => {
    const before = total;
    total += count;
    return before;
  });
}
