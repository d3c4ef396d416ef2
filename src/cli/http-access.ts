// The authenticator for HTTP, from the options.
import type { Workspace } from "../engine/workspace/workspace.ts";
import { tokenPrefix } from "../host/masked-tokens.ts";
import { type Authenticator, bearer, openAccess } from "../mcp/auth/authenticator.ts";
import { fileProblem } from "../mcp/file-problem.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { choosePolicy } from "./policy/policy-choice.ts";
import { UsageError } from "./usage-error.ts";

export async function accessOf(config: Config, workspace: Workspace, log: Log): Promise<Authenticator> {
  const { tokens, "oauth-issuer": issuer, "oauth-audience": audience } = config;
  if ((issuer === undefined) !== (audience === undefined))
    throw new UsageError("--oauth-issuer and --oauth-audience go together");
  const limits = {
    perMinute: config["max-requests-per-minute"],
    concurrency: config["max-concurrent-calls"],
  };
  const byFile =
    tokens === undefined
      ? undefined
      : await told(`${tokens} cannot be used`, async () => {
          const { Tokens } = await import("../mcp/auth/tokens.ts");
          const policy = (file: string) => choosePolicy(file, false, process.env, log);
          return new Tokens({
            file: tokens,
            workspace,
            log,
            policy,
            workspaces: config.workspaces !== undefined,
            ...limits,
          });
        });
  const byIssuer =
    issuer === undefined || audience === undefined
      ? undefined
      : await told("--oauth-issuer and --oauth-audience must be valid URLs", async () => {
          const { OAuth } = await import("../mcp/auth/oauth.ts");
          const rootsClaim = config["oauth-roots-claim"] ?? "polyfs_roots";
          const workspaceClaim = config["oauth-workspace-claim"];
          return new OAuth({ issuer, audience, rootsClaim, workspaceClaim, workspace, log, ...limits });
        });
  if (byFile !== undefined && byIssuer !== undefined) return either(byFile, byIssuer);
  const identifying = byFile ?? byIssuer;
  if (identifying !== undefined) return identifying;
  // Callers who are not identified share one count, so it has no default.
  const { perMinute, ...others } = limits;
  return openAccess(workspace, config.given.has("max-requests-per-minute") ? limits : others);
}

/** Tokens of the file are recognised by their prefix. */
function either(byFile: Authenticator, byIssuer: Authenticator): Authenticator {
  return {
    identify: authorization =>
      (bearer(authorization)?.startsWith(tokenPrefix) ? byFile : byIssuer).identify(authorization),
    refresh: () => byFile.refresh?.(),
    documents: byIssuer.documents,
    [Symbol.dispose]() {
      byFile[Symbol.dispose]();
      byIssuer[Symbol.dispose]();
    },
  };
}

async function told<T>(problem: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new UsageError(`${problem}: ${fileProblem(error)}`);
  }
}
