// The options that concern serving over HTTP, as further lines of the table of options.
import type { Option } from "./option.ts";

export const httpOptions = {
  http: {
    kind: "text",
    value: "[HOST:]PORT",
    help: "Serve many clients over HTTP, at /mcp and /mcp/DIALECT, instead of one on stdin and stdout; systemd: on the socket that systemd passes",
  },
  stateless: {
    kind: "flag",
    default: false,
    help: "With --http: keep nothing between requests, for use behind a load balancer",
  },
  "tls-cert": {
    kind: "text",
    value: "FILE",
    help: "With --http: serve HTTPS with this certificate (PEM, with its chain); reread when it is renewed",
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
    help: "With --http: require a token from this file, which polyfs token manages",
  },
  "oauth-issuer": {
    kind: "text",
    value: "URL",
    help: "With --http: accept access tokens from this authorization server",
  },
  "oauth-audience": {
    kind: "text",
    value: "URL",
    help: "The audience that these tokens must have: the URL that clients use for this server",
  },
  "oauth-roots-claim": {
    kind: "text",
    value: "NAME",
    help: "The claim that names a token's directories (polyfs_roots if left out)",
  },
  "oauth-workspace-claim": {
    kind: "text",
    value: "NAME",
    help: "The claim that restricts a token to one workspace and its forks (polyfs_workspace if left out)",
  },
  "allow-host": {
    kind: "text",
    value: "NAMES",
    help: "With --http: further host names of the server, as name or name:port, separated by commas",
  },
  "allow-origin": {
    kind: "text",
    value: "ORIGINS",
    help: "With --http: origins of pages that may call, such as https://example.org, separated by commas",
  },
  audit: {
    kind: "text",
    value: "FILE",
    help: "Write a JSON line for each call and each refusal to this file; lines are chained by hashes, and the file is rotated",
  },
  "audit-max-bytes": {
    kind: "number",
    default: 64 * 1024 * 1024,
    help: "Size at which the audit file is rotated; five old files are kept",
  },
  "max-body-bytes": {
    kind: "number",
    default: 64 * 1024 * 1024,
    help: "With --http: the largest request",
  },
  "max-sessions": {
    kind: "number",
    default: 1000,
    help: "With --http: the most open sessions, of all callers",
  },
  "max-concurrent-calls": {
    kind: "number",
    default: 4,
    help: "With --http: calls of one caller that run concurrently, unless its token sets a limit; the rest wait",
  },
  "max-requests-per-minute": {
    kind: "number",
    default: 6000,
    help: "With --http: requests per minute with one token, unless the token sets a limit; without tokens, of all callers, if it is set",
  },
} as const satisfies Record<string, Option>;
