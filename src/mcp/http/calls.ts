// Every request that a method answers passes here: calls of tools wait for their turn, and are counted and
// recorded. It holds what the caller may reach open for as long as the call runs, also when nobody waits for it.
import type { Answer, Caller, Method, Params } from "../server.ts";
import { Lane } from "./lane.ts";
import type { Recorder } from "./recorder.ts";
import type { Visit } from "./visit.ts";

/** Calls on files that run at once, of all callers. More would only wait for the same disk. */
const fileSlots = 64;
/** Commands wait more than they work, and may take minutes: they do not take turns from calls on files. */
const commandSlots = 64;
/** What one caller may have running, where nothing else is said. */
const defaultConcurrency = 4;

export class Calls {
  readonly files = new Lane(fileSlots);
  readonly commands = new Lane(commandSlots);
  readonly #recorder: Recorder;

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  async answer(visit: Visit, name: string, method: Method, params: Params, caller: Caller): Promise<Answer> {
    const { principal, table } = visit;
    using _reach = principal.use();
    using _kept = visit.hold?.();
    if (name !== "tools/call") return await table.server.answer(method, params, caller);
    const tool = table.tool(params.name);
    const lane = tool?.effect === "runs" ? this.commands : this.files;
    using _turn = await lane.enter(visit.line, principal.is.concurrency ?? defaultConcurrency, caller.signal);
    return await this.#recorder.record(visit, tool, params, caller, () =>
      table.server.answer(method, params, caller),
    );
  }
}
