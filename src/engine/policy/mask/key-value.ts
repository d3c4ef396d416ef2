// Files of `KEY=value` lines: dotenv, ini, properties, rc files. Everything but keys, sections, blanks and comments
// is hidden, also on malformed lines, which may be the rest of a value.
import { append } from "../../append.ts";
import { knownSecrets } from "./known-secrets.ts";
import { labelOf, mostSecrets, type Secret, unquoted } from "./secret.ts";

const section = /^[ \t]*\[[^\]\r\n]*\][ \t]*(?:[#;].*)?$/;
/**
 * A key with what separates it from its value, also where the line is commented out. Two equals signs end Base64: what
 * precedes them is the rest of a value.
 */
const entry =
  /^[ \t]*(?:[#;]+[ \t]*)?(?:export[ \t]+|set[ \t]+)?("[^"\r\n]*"|'[^'\r\n]*'|[^\s=:#;"'`[\]][^\s=:]*)[ \t]*(?:=(?!=)|:)[ \t]*/;
const comment = /^[ \t]*(?:[#;!]|\/\/|$)/;

export function keyValueSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  let prefix = "";
  /** How far the last entry is indented: deeper lines continue its value. */
  let indent = Number.POSITIVE_INFINITY;
  let isContinued = false;
  for (let at = 0; at < text.length && secrets.length <= mostSecrets; ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    let next = nextLine(text, end);
    const depth = line.length - line.trimStart().length;
    const written = entry.exec(line);
    const isRest = depth > indent || (isContinued && written?.[0].length === line.length);
    const found = isRest ? null : written;
    isContinued = false;
    if (section.test(line)) {
      prefix = line.trim();
      indent = Number.POSITIVE_INFINITY;
    } else if (found !== null) {
      if (!comment.test(line)) indent = depth;
      const start = at + found[0].length;
      const stop = valueEnd(text, start, end);
      next = nextLine(text, lineEnd(text, stop));
      const [inner, innerEnd] = unquoted(text, start, stop);
      if (innerEnd > inner)
        secrets.push({ start: inner, end: innerEnd, label: labelOf(prefix, found[1] ?? "") });
      append(secrets, knownSecrets(text, stop, lineEnd(text, stop)));
    } else if (comment.test(line)) append(secrets, knownSecrets(text, at, end));
    else if (line.trim() !== "") {
      isContinued = true;
      const start = at + (line.length - line.trimStart().length);
      secrets.push({ start, end: at + line.trimEnd().length, label: labelOf(prefix, "line") });
    }
    at = next;
  }
  return secrets;
}

/** A quoted value may span lines; a trailing backslash continues it. Without a closing quote the rest is hidden. */
function valueEnd(text: string, start: number, end: number): number {
  const quote = text[start];
  if (quote === '"' || quote === "'" || quote === "`") {
    for (let i = start + 1; i < text.length; i++) {
      if (text[i] === "\\" && quote === '"') i++;
      else if (text[i] === quote) {
        const rest = lineEnd(text, i);
        // `'a'b`: what follows the quote directly belongs to the value. After a semicolon a shell has another command.
        return /^(?:[ \t]+#.*|[ \t]*)$/.test(text.slice(i + 1, rest)) ? i + 1 : trimmedEnd(text, start, rest);
      }
    }
    return trimmedEnd(text, start, text.length);
  }
  let stop = end;
  while (text[stop - 1] === "\\" && stop < text.length) stop = lineEnd(text, nextLine(text, stop));
  return trimmedEnd(text, start, stop);
}

function trimmedEnd(text: string, start: number, end: number): number {
  let stop = end;
  while (stop > start && /\s/.test(text[stop - 1] ?? "")) stop--;
  return stop;
}

export function lineEnd(text: string, from: number): number {
  for (let i = from; i < text.length; i++) if (text[i] === "\n" || text[i] === "\r") return i;
  return text.length;
}

export function nextLine(text: string, end: number): number {
  return text[end] === "\r" && text[end + 1] === "\n" ? end + 2 : Math.min(end + 1, text.length);
}
