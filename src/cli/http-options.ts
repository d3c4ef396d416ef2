// The options that concern serving over HTTP, as further lines of the table of options.
import type { Option } from "./option.ts";

export const httpOptions = {
  http: {
    kind: "text",
    value: "[HOST:]PORT",
    help: "Serve many clients over HTTP, at /mcp and /mcp/DIALECT, instead of one on stdin and stdout; systemd: on the socket that it hands over",
  },
  stateless: {
    kind: "flag",
    default: false,
    help: "With --http: keep nothing between requests, for use behind a load balancer",
  },
  "tls-cert": {
    kind: "text",
    value: "FILE",
    help: "With --http: serve HTTPS with this certificate (PEM, with its chain); read again when it is renewed",
  },
  "tls-key": { kind: "text", value: "FILE", help: "The key of that certificate (PEM)" },
  "metrics-listen": {
    kind: "text",
    value: "[HOST:]PORT",
    help: "With --http: serve /metrics, /healthz and /readyz here, in plain HTTP and without a token, and /metrics nowhere else",
  },
  tokens: {
    kind: "text",
    value: "FILE",
    help: "With --http: callers need a token of this file, which polyfs token makes",
  },
  "oauth-issuer": {
    kind: "text",
    value: "URL",
    help: "With --http: callers may bring an access token of this authorization server",
  },
  "oauth-audience": {
    kind: "text",
    value: "URL",
    help: "What such a token must be for: the URL under which clients know this server",
  },
  "oauth-roots-claim": {
    kind: "text",
    value: "NAME",
    help: "The claim of such a token that names the directories it is for (polyfs_roots if left out)",
  },
  "oauth-workspace-claim": {
    kind: "text",
    value: "NAME",
    help: "The claim of such a token that names the only workspace it is for, with the forks of it (polyfs_workspace if left out)",
  },
  "allow-host": {
    kind: "text",
    value: "NAMES",
    help: "With --http: further names that the server is addressed by, as name or name:port, joined by commas",
  },
  "allow-origin": {
    kind: "text",
    value: "ORIGINS",
    help: "With --http: origins of pages that may call, such as https://example.org, joined by commas",
  },
  audit: {
    kind: "text",
    value: "FILE",
    help: "Write a JSON line for each call and each refusal to this file; lines are chained by hashes, and it is rotated",
  },
  "audit-max-bytes": {
    kind: "number",
    default: 64 * 1024 * 1024,
    help: "How large the audit file grows before it is rotated; five old ones are kept",
  },
  "max-body-bytes": {
    kind: "number",
    default: 64 * 1024 * 1024,
    help: "With --http: the largest request",
  },
  "max-sessions": { kind: "number", default: 1000, help: "With --http: sessions at once, of all callers" },
  "max-concurrent-calls": {
    kind: "number",
    default: 4,
    help: "With --http: calls of one caller that run at once, where its token does not say; the rest wait",
  },
  "max-requests-per-minute": {
    kind: "number",
    default: 6000,
    help: "With --http: requests with one token in a minute, where it does not say",
  },
} as const satisfies Record<string, Option>;

export type HttpOptionName = keyof typeof httpOptions;
