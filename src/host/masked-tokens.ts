// Tokens in a log, by their shape. A caller may send one in the wrong place, such as a path or the name of a tool, and
// the log must not hold what lets its reader in. The beginning of its hash is shown: a file may have such a name, and
// the log has to identify it.
import { hash } from "node:crypto";

/** How the tokens of a tokens file begin. */
export const tokenPrefix = "pfs_";

const ownToken = new RegExp(`${tokenPrefix}[\\w-]{16,}`, "g");
/** Words with dots between them, where a JWT may be. A match begins where a word does, so time is linear. */
const dotted = /(?<![\w-])[\w-]+(?:\.[\w-]+){2,}/g;
const partsOfJwt = 3;
const tokenStart = "eyJ";
const shortestJwt = 60;
/** The user and the password in a URL. */
const userInfo = /:\/\/[^\s/?#"\\]+@/g;

/**
 * The text of a log line, also as JSON, with `***` for users and passwords in URLs, and for tokens, which have 12 digits
 * of their SHA-256 after that.
 */
export function withoutTokens(text: string): string {
  let shown = text;
  if (shown.includes(tokenPrefix)) shown = shown.replace(ownToken, token => tokenPrefix + masked(token));
  if (shown.includes(tokenStart)) shown = shown.replace(dotted, withoutJwts);
  return shown.includes("://") ? shown.replace(userInfo, "://***@") : shown;
}

/** The beginning of a text that a caller chose. Masked first: a token that is cut has no shape to know it by. */
export function beginning(text: string, most: number): string {
  return withoutTokens(text).slice(0, most);
}

function withoutJwts(text: string): string {
  const parts = text.split(".");
  const shown: string[] = [];
  for (let first = 0; first < parts.length; first++) {
    const part = parts[first] ?? "";
    const at = part.indexOf(tokenStart);
    const all =
      at < 0
        ? ""
        : parts
            .slice(first, first + partsOfJwt)
            .join(".")
            .slice(at);
    const isToken = first + partsOfJwt <= parts.length && all.length >= shortestJwt;
    shown.push(isToken ? part.slice(0, at) + tokenStart + masked(all) : part);
    if (isToken) first += partsOfJwt - 1;
  }
  return shown.join(".");
}

function masked(token: string): string {
  return `***${hash("sha256", token).slice(0, 12)}`;
}
