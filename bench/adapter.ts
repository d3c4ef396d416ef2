// A program that is measured: how it is started on a directory, and which of its calls do which job.
import type { Command } from "./client.ts";
import type { Call, Calls } from "./jobs.ts";

/** Where a server may work: what it serves, and a place of its own for whatever else it keeps. */
export interface Fixture {
  readonly root: string;
  readonly state: string;
}

export interface Adapter {
  readonly name: string;
  /** `ours` and `rival` are compared; the others are what they are compared with. */
  readonly family: "ours" | "before" | "rival" | "floor";
  /** How it is started. Rejects, with the reason, where it cannot be. */
  command(fixture: Fixture): Promise<Command>;
  readonly calls: Calls;
  /** The calls that a server needs before any other. */
  readonly greeting?: (fixture: Fixture) => Call;
}
