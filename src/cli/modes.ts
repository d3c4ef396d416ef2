// Options without effect in the chosen mode. They are refused: the user believes that they apply.
import type { Config } from "./config.ts";
import { type HttpOptionName, httpOptions } from "./http-options.ts";
import { UsageError } from "./usage-error.ts";

/** Those that count without --http, too. */
const everywhere: ReadonlySet<string> = new Set(["audit", "audit-max-bytes"]);

/** What one needs to have an effect. */
const needs: Partial<Record<HttpOptionName, HttpOptionName>> = {
  "audit-max-bytes": "audit",
  "oauth-roots-claim": "oauth-issuer",
  "oauth-workspace-claim": "oauth-issuer",
  "tls-cert": "tls-key",
  "tls-key": "tls-cert",
};

export function unusedOn(config: Config): void {
  const given = (Object.keys(httpOptions) as HttpOptionName[]).filter(
    name => config.given.has(name) && config[name] !== false,
  );
  for (const name of given) {
    const other = needs[name];
    if (config.http === undefined && !everywhere.has(name))
      throw new UsageError(`--${name} has no effect without --http: leave it out, or add --http PORT`);
    if (other !== undefined && !given.includes(other))
      throw new UsageError(`--${name} has no effect without --${other}`);
  }
}
