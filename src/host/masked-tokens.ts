// Tokens in a log, by their shape. A caller may send one in the wrong place, such as a path or the name of a tool, and
// the log must not hold what lets its reader in.

/** How the tokens of a tokens file begin. */
export const tokenPrefix = "pfs_";

const ownToken = new RegExp(`${tokenPrefix}[\\w-]{16,}`, "g");
/** Three parts, of which the first has the beginning of a JWT. A match begins where a word does, so time is linear. */
const threeParts = /(?<![\w-])[\w-]+\.[\w-]+\.[\w-]+/g;
const tokenStart = "eyJ";
const shortestJwt = 60;
/** The user and the password in a URL. */
const userInfo = /:\/\/[^\s/?#"\\]+@/g;

/** The text of a log line, also as JSON, with `***` for tokens, and for users and passwords in URLs. */
export function withoutTokens(text: string): string {
  let shown = text;
  if (shown.includes(tokenPrefix)) shown = shown.replace(ownToken, `${tokenPrefix}***`);
  if (shown.includes(tokenStart)) shown = shown.replace(threeParts, withoutJwt);
  return shown.includes("://") ? shown.replace(userInfo, "://***@") : shown;
}

function withoutJwt(parts: string): string {
  const at = parts.indexOf(tokenStart);
  const isToken = at >= 0 && at < parts.indexOf(".") && parts.length - at >= shortestJwt;
  return !isToken ? parts : `${parts.slice(0, at + tokenStart.length)}***`;
}
