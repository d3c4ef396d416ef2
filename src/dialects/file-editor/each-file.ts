// Many files in one call, each with its own result: a failure does not stop the others.
import { say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { wording } from "./wording.ts";
import type { WorkspaceCall } from "./workspace-tool.ts";

export type FileOutcome<T> = { readonly path: string } & ({ readonly value: T } | { readonly error: string });

/** One after the other, in the caller's order. */
export async function eachFile<T>(
  paths: readonly string[],
  call: WorkspaceCall,
  action: (path: string, index: number) => Promise<T>,
): Promise<FileOutcome<T>[]> {
  const outcomes: FileOutcome<T>[] = [];
  for (const [index, path] of paths.entries()) {
    try {
      outcomes.push({ path, value: await action(path, index) });
    } catch (error) {
      if (!(error instanceof Fault) || call.signal.aborted) throw error;
      call.failedInPart?.(error);
      outcomes.push({ path, error: say(wording, error) });
    }
  }
  return outcomes;
}
