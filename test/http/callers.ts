// Callers that are distinguished by name alone (`Bearer ann`), for tests that are not about how they are known.

import type { Workspace } from "../../src/engine/workspace/workspace.ts";
import type { Authenticator } from "../../src/mcp/auth/authenticator.ts";
import { bearer } from "../../src/mcp/auth/authenticator.ts";
import { Principal } from "../../src/mcp/auth/principal.ts";
import { Refusal } from "../../src/mcp/http/refusal.ts";

export function byName(workspace: Workspace, concurrency = 4): Authenticator {
  const callers = new Map<string, Principal>();
  return {
    identify(authorization) {
      const name = bearer(authorization);
      if (name === undefined) throw new Refusal(401, "Unauthorized");
      const known =
        callers.get(name) ??
        new Principal({
          owner: name,
          name,
          workspace,
          narrowed: false,
          browses: true,
          concurrency,
          permits: () => true,
          refuse: () => new Refusal(403, "Forbidden"),
        });
      callers.set(name, known);
      return known;
    },
    documents: new Map(),
    [Symbol.dispose]() {},
  };
}

export const as = (name: string) => ({ authorization: `Bearer ${name}` });
