// What a server sends to review pages: its latest calls, the changes it makes, and the questions of its policy. Calls are
// kept in memory; no file is written for them. What costs something (a socket, a file that says where it is) is
// made after the first call, when the server is quiet.

import type { Approval } from "../contract/context.ts";
import type { Session } from "../contract/session.ts";
import type { Effect } from "../contract/tool.ts";
import { clock } from "../engine/clock.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { beginning } from "../host/masked-tokens.ts";
import type { ActivityOptions, AskedQuestion } from "./activity-options.ts";
import { AgentNotes } from "./agent-notes.ts";
import type { Call } from "./api.ts";
import type { Station } from "./station.ts";
import type { WireCall } from "./wire.ts";

interface CallInfo {
  readonly tool: string;
  readonly effect: Effect;
  readonly paths: readonly string[];
  readonly session: Session;
  readonly workspace: Workspace;
}

export interface RunningCall {
  readonly call: CallInfo;
  readonly time: number;
  readonly began: number;
  changes: string[] | undefined;
}

interface EndedCall {
  readonly running: RunningCall;
  readonly number: number;
  readonly ms: number;
  readonly isFailed: boolean;
  readonly fault: string | undefined;
}

const mostCalls = 300;
const mostPaths = 20;
const longestPath = 300;
/** After the first call: later than what its client asks next, as a rule. */
const quietMs = 30;

/** Calls are sent in groups: a busy agent makes hundreds in a second, and each message wakes the page's server. */
const groupMs = 25;

const refusals = ["denied", "forbidden", "irrevocable", "approval_needed", "read_only"];

export class Activity implements Disposable {
  readonly notes: AgentNotes;
  readonly #options: ActivityOptions;
  readonly #running = new Set<RunningCall>();
  readonly #stop: readonly (() => void)[];
  #calls: EndedCall[] = [];
  /** Calls that were sent to no page yet. */
  readonly #untold: EndedCall[] = [];
  #number = 0;
  #station: Station | undefined;
  #opening: Promise<Station | undefined> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ActivityOptions) {
    this.#options = options;
    this.notes = new AgentNotes(options.state);
    const { workspace } = options;
    this.#stop = [
      workspace.onCommit(({ id, by }) => this.#changed(id, by)),
      workspace.onRecord(id => this.#changed(id)),
    ];
  }

  begin(asked: CallInfo): RunningCall {
    const paths = bounded(asked.paths);
    const call = paths === asked.paths ? asked : { ...asked, paths };
    const running = { call, time: Date.now(), began: clock(), changes: undefined };
    this.#running.add(running);
    return running;
  }

  /** Every call comes here, so it is put into words only when a page may want it. */
  end(running: RunningCall, isFailed: boolean, fault: string | undefined): void {
    this.#running.delete(running);
    const ended = { running, number: this.#number++, ms: clock() - running.began, isFailed, fault };
    this.#calls.push(ended);
    if (this.#calls.length > mostCalls * 2) this.#calls = this.#calls.slice(-mostCalls);
    if (this.#station !== undefined) this.#tell(ended);
    else this.#timer ??= setTimeout(() => void this.#open(), quietMs).unref();
  }

  #tell(call: EndedCall): void {
    if (this.#untold.push(call) > 1) return;
    setTimeout(() => {
      for (const one of this.#untold.splice(0)) this.#station?.tell({ is: "call", call: wireCall(one) });
    }, groupMs).unref();
  }

  /** Asks the person at a review page. Undefined if no page is open for what it is about, or it closes. */
  async ask(question: AskedQuestion): Promise<Approval | undefined> {
    const { isPageOpen } = await import("./station.ts");
    if (!isPageOpen(this.#options.state)) return undefined;
    return await (await this.#open())?.ask(question);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    for (const stop of this.#stop) stop();
    this.#station?.[Symbol.dispose]();
  }

  async #open(): Promise<Station | undefined> {
    clearTimeout(this.#timer);
    this.#opening ??= import("./station.ts").then(({ openStation }) =>
      openStation({ ...this.#options, calls: () => this.#calls.slice(-mostCalls).map(wireCall) }),
    );
    const station = await this.#opening.catch(() => undefined);
    // A server that has only read may have no state directory yet; it tries again after a later call.
    if (station === undefined) {
      this.#opening = undefined;
      this.#timer = undefined;
    }
    this.#station = station;
    return station;
  }

  /** The call that made a change is found by its name and connection; if two match, by neither. */
  #changed(id: string, by?: { readonly action: string; readonly connection?: string }): void {
    const fits = [...this.#running].filter(({ call: { tool, session, effect } }) =>
      by === undefined ? effect === "runs" : tool === by.action && session.connection === by.connection,
    );
    const [only] = fits;
    if (only !== undefined && fits.length === 1) {
      only.changes ??= [];
      only.changes.push(id);
    }
    this.#station?.tell({ is: "change", id });
  }
}

/** Paths as a page shows them. Those that are cut do not hold on to the text that they were cut from. */
function bounded(paths: readonly string[]): readonly string[] {
  if (paths.length <= mostPaths && paths.every(path => path.length <= longestPath)) return paths;
  return paths.slice(0, mostPaths).map(path => structuredClone(beginning(path, longestPath)));
}

function wireCall({ running, number, ms, isFailed, fault }: EndedCall): WireCall {
  const { call, time, changes = [] } = running;
  const { tool, effect, paths, session, workspace } = call;
  return {
    id: `${process.pid}-${number.toString(36)}`,
    time,
    agent: { client: session.client, connection: session.connection },
    tool,
    effect,
    paths,
    ms: Math.round(ms * 10) / 10,
    outcome: outcomeOf(isFailed, fault),
    ...(fault !== undefined && { fault }),
    changes,
    roots: workspace.roots.map(({ path }) => path),
  };
}

function outcomeOf(isFailed: boolean, fault: string | undefined): Call["outcome"] {
  if (!isFailed && fault === undefined) return "ok";
  if (fault === "cancelled") return "cancelled";
  return fault !== undefined && refusals.includes(fault) ? "refused" : "failed";
}
