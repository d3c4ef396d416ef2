// Says at the start when history will not survive: the state directory is in memory.
import { sayTemporaryHistory } from "../contract/wording.ts";
import { statePath, temporaryState } from "../engine/workspace/commit/state-path.ts";
import { isVolatile } from "../engine/workspace/system/file-system.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import type { Log } from "../mcp/log.ts";
import type { Config } from "./config.ts";
import { print } from "./print.ts";

export const volatileState = "in memory: history and undo end when the machine is restarted";

/** A read-only server has no history to lose. In a log of JSON lines, these are lines as well. */
export async function warnOfVolatileState(config: Config, { roots }: Workspace, log: Log): Promise<void> {
  if (roots.every(({ access }) => access === "read-only")) return;
  const temporary = temporaryState(config["state-dir"]);
  const say = async (text: string) => {
    if (config["log-format"] === "json") log.warn(text);
    else await print(process.stderr, `polyfs: ${text}\n`);
  };
  if (temporary !== undefined) await say(sayTemporaryHistory(temporary));
  if (!isVolatile(statePath(config["state-dir"]))) return;
  await say(`the state directory is ${volatileState} (--state-dir names another)`);
}
