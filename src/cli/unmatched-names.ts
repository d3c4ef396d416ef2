// Names in --allow-host and --allow-origin that no request can have. Both headers are compared exactly, so a name that
// is spelled in another way than browsers spell it never matches.
import { UsageError } from "./usage-error.ts";

export function refuseUnmatched(hosts: readonly string[], origins: readonly string[]): void {
  for (const host of hosts) {
    const sent = hostOf(host);
    if (sent !== host.toLowerCase()) throw refusal("--allow-host", host, sent, "name or name:port");
  }
  for (const origin of origins) {
    const sent = originOf(origin);
    if (sent?.toLowerCase() !== origin.toLowerCase())
      throw refusal("--allow-origin", origin, sent, "scheme://name or scheme://name:port");
  }
}

function refusal(option: string, given: string, sent: string | undefined, form: string): UsageError {
  const meant = sent === undefined ? `the form is ${form}, without wildcards` : `did you mean ${sent}?`;
  return new UsageError(`${option} ${JSON.stringify(given)} matches no request: ${meant}`);
}

/** As a client sends it. A port stays, also the one that is the scheme's default. */
function hostOf(text: string): string | undefined {
  const url = parsed(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (url === undefined) return undefined;
  const [, port = ""] = /(:\d+)\/?$/.exec(text) ?? [];
  return url.hostname + (url.hostname.endsWith(port) ? "" : port);
}

/** As a browser sends it. `null` is what a page without an origin of its own sends. */
function originOf(text: string): string | undefined {
  if (text.toLowerCase() === "null") return "null";
  const url = parsed(text);
  if (url === undefined) return undefined;
  // Of an extension's page: the scheme is not the web's.
  return url.origin === "null" ? `${url.protocol}//${url.host}` : url.origin;
}

function parsed(text: string): URL | undefined {
  if (text.includes("*") || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.host === "" ? undefined : url;
}
