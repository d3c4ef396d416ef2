// Files of passwords with a form of their own: .netrc, .pgpass and .htpasswd, .git-credentials. Comments are shown, and
// a line that does not have the form is hidden whole.
import { append } from "../../append.ts";
import { lineEnd, nextLine } from "./key-value.ts";
import { knownSecrets } from "./known-secrets.ts";
import { labelOf, mostSecrets, type Secret } from "./secret.ts";

/** `machine NAME login NAME password VALUE` over any number of lines. Only machine names and logins are shown. */
export function netrcSecrets(text: string): Secret[] {
  const secrets: Secret[] = [];
  let word = "";
  let machine = "";
  for (const { 0: found, index } of text.matchAll(/(?<!\S)#[^\r\n]*|"(?:[^"\\]|\\.)*"?\S*|[^\s"]\S*/g)) {
    if (secrets.length > mostSecrets) break;
    if (found.startsWith("#") && word === "") {
      append(secrets, knownSecrets(text, index, index + found.length));
    } else if (word !== "") {
      if (word === "machine") machine = found;
      else if (word !== "login")
        secrets.push({ start: index, end: index + found.length, label: labelOf(machine, word) });
      word = "";
    } else if (/^(?:machine|login|password|account|macdef)$/.test(found)) word = found;
    else if (found !== "default")
      secrets.push({ start: index, end: index + found.length, label: labelOf(machine, "word") });
  }
  return secrets;
}

/** Fields between colons, the last of which is the password. .htpasswd has two, .pgpass five. */
export function lastFieldSecrets(text: string): Secret[] {
  return lineSecrets(text, line => /^(?:(?:[^:\\]|\\.)*:){4}|^(?:[^:\\]|\\.)*:/.exec(line)?.[0]);
}

/** URLs: what precedes the host is hidden, as a token may be in place of the user's name. */
export function gitCredentialsSecrets(text: string): Secret[] {
  return lineSecrets(text, line => /^[ \t]*[a-z][a-z0-9+.-]*:\/\//i.exec(line)?.[0], /@[^@\s]*[ \t]*$/);
}

/** What each line holds after its opening and before its ending. */
function lineSecrets(
  text: string,
  opening: (line: string) => string | undefined,
  ending = /[ \t]*$/,
): Secret[] {
  const secrets: Secret[] = [];
  for (
    let at = 0;
    at < text.length && secrets.length <= mostSecrets;
    at = nextLine(text, lineEnd(text, at))
  ) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end);
    if (/^[ \t]*(?:#|$)/.test(line)) {
      append(secrets, knownSecrets(text, at, end));
      continue;
    }
    const shown = opening(line) ?? "";
    const closing = ending.exec(line)?.[0] ?? "";
    const stop = end - closing.length;
    const label = labelOf(closing.trim() || shown);
    const start = at + shown.length;
    if (stop > start) secrets.push({ start, end: stop, label });
  }
  return secrets;
}
