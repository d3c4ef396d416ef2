// What was changed, and taking it back, without a tool call.
import { listChanges, openEngine, undo } from "polyfs";

export async function undoLastOf(client: string, directory: string): Promise<string[]> {
  const engine = openEngine({ roots: [{ path: directory, access: "read-write" }] });
  try {
    const changes = await listChanges(engine.workspace, { limit: 100 });
    const last = changes.find(change => change.client === client && change.undoes === undefined);
    if (last === undefined) return [];
    const { restored } = await undo(engine.workspace, { change: last.id });
    return restored.map(({ at, did }) => `${at}: ${did}`);
  } finally {
    engine[Symbol.dispose]();
  }
}
