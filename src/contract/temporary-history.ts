// If history is kept only temporarily, the answer to a caller's first change says so.
import type { CallContext } from "./context.ts";
import type { Reply } from "./tool.ts";
import { sayTemporaryHistory } from "./wording.ts";

/** Sessions that were informed, or where they do not last, what the caller may reach. */
const told = new WeakSet<object>();

export function withNotice(reply: Reply, { workspace, session }: CallContext): Reply {
  if (reply.isError) return reply;
  const { temporaryHistory } = workspace;
  if (temporaryHistory === undefined) return reply;
  const who = session.lasting ? session : workspace;
  if (told.has(who)) return reply;
  told.add(who);
  const text = sayTemporaryHistory(temporaryHistory);
  return { ...reply, content: [...reply.content, { type: "text", text }] };
}
