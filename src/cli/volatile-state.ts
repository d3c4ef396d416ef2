// Says at the start when history will not survive: the state directory is in memory.
import { sayTemporaryHistory } from "../contract/wording.ts";
import { statePath, temporaryState } from "../engine/workspace/commit/state-path.ts";
import { isVolatile } from "../engine/workspace/system/file-system.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Config } from "./config.ts";
import { print } from "./print.ts";

export const volatileState = "in memory: history and undo end when the machine is restarted";

/** A read-only server has no history to lose. */
export async function warnOfVolatileState(config: Config, { roots }: Workspace): Promise<void> {
  if (roots.every(({ access }) => access === "read-only")) return;
  const temporary = temporaryState(config["state-dir"]);
  if (temporary !== undefined) await print(process.stderr, `polyfs: ${sayTemporaryHistory(temporary)}\n`);
  if (!isVolatile(statePath(config["state-dir"]))) return;
  await print(
    process.stderr,
    `polyfs: the state directory is ${volatileState} (--state-dir names another)\n`,
  );
}
