// A call in a workspace that other machines share: what they did is here before the tool looks, what a command did is
// with them before the caller is answered, and an answer from an old copy says so.
import type { CallContext } from "./context.ts";
import type { Reply, Tool } from "./tool.ts";

export async function inReplica(
  { effect, name, paths = [], fileOf }: Tool,
  params: Readonly<Record<string, unknown>>,
  call: CallContext,
  run: () => Promise<Reply> | Reply,
): Promise<Reply> {
  const { workspace, session } = call;
  const { replication } = workspace;
  if (replication === undefined) return await run();
  const given = paths.flatMap(key => params[key]).filter(one => typeof one === "string");
  // A file whose name looks like a part of another may not have been fetched yet, so its whole name goes first.
  const named = given.map(path => (fileOf === undefined ? [path] : [path, fileOf(path, call)]));
  await replication.refresh(effect === "reads" ? "reads" : "writes", named);
  if (effect !== "runs") return noted(await run(), replication.staleMs);
  const by = { action: name, client: session.client, connection: session.connection };
  try {
    return await run();
  } finally {
    await replication.publishChanges(by, workspace.maxBytes);
  }
}

function noted(reply: Reply, staleMs: number | undefined): Reply {
  if (staleMs === undefined) return reply;
  const seconds = Math.max(1, Math.round(staleMs / 1000));
  const text = `[The shared store cannot be reached. This is the copy of this server, as of ${seconds} s ago; changes of others since then are missing.]`;
  return {
    ...reply,
    content: [...reply.content, { type: "text", text }],
    meta: { ...reply.meta, "polyfs/staleMs": Math.round(staleMs) },
  };
}
