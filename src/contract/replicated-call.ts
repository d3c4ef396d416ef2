// A call in a workspace that other machines share: their changes are applied before the tool runs, a command's changes
// are published before the caller is answered, and an answer from an old copy says so, even a refusal. A command that
// has run is answered as such, whatever the store says afterwards. An answer that names a change which the shared log
// does not have says so; that is known only when everything is published.
import { Fault } from "../engine/fault.ts";
import type { Replication } from "../engine/workspace/commit/publication.ts";
import type { CallContext } from "./context.ts";
import type { Outcome } from "./dialect.ts";
import type { Tool } from "./tool.ts";
import { plainWording, printable, say } from "./wording.ts";

/** `run` does not throw: what it refuses is an outcome. Faults: `store_unavailable`, if it was not run. */
export async function inReplica(
  { effect, name, paths = [], fileOf }: Tool,
  params: Readonly<Record<string, unknown>>,
  call: CallContext,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const { workspace, session } = call;
  const { replication } = workspace;
  if (replication === undefined) return await run();
  const given = paths.flatMap(key => params[key]).filter(one => typeof one === "string");
  // A file whose name looks like a part of another may not have been fetched yet, so the whole name is tried first.
  const named = given.map(path => (fileOf === undefined ? [path] : [path, fileOf(path, call)]));
  // A read does not wait for a store that is known to be lost; it may be back before the tool is done.
  const wasStale = effect === "reads" ? staleOf(replication) : undefined;
  await replication.refresh(effect === "reads" ? "reads" : "writes", named);
  const stale = staleOf(replication) ?? wasStale;
  if (effect !== "runs") return noted(await run(), stale);
  const by = { action: name, client: session.client, connection: session.connection };
  const overlaps = new Set<string>();
  const onlyHere = new Set<string>();
  const stop = replication.commandRuns(
    by,
    at => overlaps.add(at),
    id => onlyHere.add(id),
  );
  try {
    const ran = await run();
    const fault = await replication.publishChanges(by, workspace.maxBytes).then(() => undefined, asFault);
    if (fault !== undefined) call.failed?.(fault);
    const outcome = [...onlyHere].some(id => isNamedIn(ran, id)) ? unknownElsewhere(ran, replication) : ran;
    const shown = [...overlaps].filter(at => !workspace.isHidden(`${replication.root}/${at}`));
    const told = overlaps.size === 0 ? outcome : overlapped(outcome, shown);
    return fault === undefined ? told : unpublished(told, fault, replication);
  } finally {
    stop();
  }
}

function asFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  throw error;
}

interface Stale {
  readonly ms: number;
  readonly cause: Fault | undefined;
}

function staleOf({ staleMs, staleCause }: Replication): Stale | undefined {
  return staleMs === undefined ? undefined : { ms: staleMs, cause: staleCause };
}

function noted(outcome: Outcome, stale: Stale | undefined): Outcome {
  if (stale === undefined) return outcome;
  const { ms, cause } = stale;
  const seconds = Math.max(1, Math.round(ms / 1000));
  const isHere = cause !== undefined && !Fault.is(cause, "store_unavailable");
  const why = isHere
    ? `The changes of others cannot be written to this server's disk: ${say(plainWording, cause)}`
    : "The shared store cannot be reached";
  const text = `[${why}. This is the copy of this server, as of ${seconds} s ago; changes of others since then are missing.]`;
  const said = withText(outcome, text);
  if ("error" in said) return said;
  return { ...said, meta: { ...said.meta, "polyfs/staleMs": Math.round(ms) } };
}

/** An error, since what is acknowledged is in the store. The output stays: running the command again may do harm. */
function unpublished(outcome: Outcome, fault: Fault, { waitingCommands }: Replication): Outcome {
  // Changes that several commands made to one file cannot be separated any more.
  const beside =
    waitingCommands > 1
      ? " If several waiting commands changed one file, other servers may get those changes under the id of the first."
      : "";
  const text = `[${say(plainWording, fault)}. The changes of commands are in this server's copy, and reach the others when the store can be used again: do not repeat a command that has run.${beside}]`;
  const said = withText(outcome, text);
  return "error" in said ? said : { ...said, isError: true };
}

const mostNamed = 5;

/** An error, too: what a command wrote there is not in the file. */
function overlapped(outcome: Outcome, paths: readonly string[]): Outcome {
  const named = paths.slice(0, mostNamed).map(printable).join(", ") || "a file that the policy denies";
  const more = paths.length > mostNamed ? ` and ${paths.length - mostNamed} more` : "";
  const text = `[While the command ran, another server wrote in the same place as unpublished changes here, or removed it: ${named}${more}. The other server's version stays; what was here is in the history. Read the file before you change it again.]`;
  const said = withText(outcome, text);
  return "error" in said ? said : { ...said, isError: true };
}

function isNamedIn(outcome: Outcome, id: string): boolean {
  return "content" in outcome && outcome.content.some(part => part.type === "text" && part.text.includes(id));
}

function unknownElsewhere(outcome: Outcome, { replica }: Replication): Outcome {
  const text = `[only this server, ${replica}, knows this change by its id: what other servers have of it came with other changes]`;
  return withText(outcome, text);
}

function withText(outcome: Outcome, text: string): Outcome {
  if ("error" in outcome) return { error: { ...outcome.error, message: `${outcome.error.message} ${text}` } };
  return { ...outcome, content: [...outcome.content, { type: "text", text }] };
}
