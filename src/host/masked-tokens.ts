// Tokens in a log, by their shape. A caller may send one in the wrong place, such as a path or the name of a tool, and
// the log must not hold what lets its reader in. The beginning of its hash is shown, because a file may have such a name,
// too, and the log has to tell which one it was.
import { hash } from "node:crypto";

/** How the tokens of a tokens file begin. */
export const tokenPrefix = "pfs_";

const ownToken = new RegExp(`${tokenPrefix}[\\w-]{16,}`, "g");
/** Three parts, of which the first has the beginning of a JWT. A match begins where a word does, so time is linear. */
const threeParts = /(?<![\w-])[\w-]+\.[\w-]+\.[\w-]+/g;
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
  if (shown.includes(tokenStart)) shown = shown.replace(threeParts, withoutJwt);
  return shown.includes("://") ? shown.replace(userInfo, "://***@") : shown;
}

function withoutJwt(parts: string): string {
  const at = parts.indexOf(tokenStart);
  const isToken = at >= 0 && at < parts.indexOf(".") && parts.length - at >= shortestJwt;
  return isToken ? parts.slice(0, at) + tokenStart + masked(parts.slice(at)) : parts;
}

function masked(token: string): string {
  return `***${hash("sha256", token).slice(0, 12)}`;
}
