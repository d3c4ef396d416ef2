// What publishes the changes of a replica: the start, and the changes of tools, before the answer or behind it.
import type { CopyDifference } from "./copy-difference.ts";
import type { EntrySender } from "./entry-sender.ts";
import type { LogFollower } from "./log-follower.ts";
import type { ReplicaContext } from "./replica-context.ts";

export interface ReplicaParts {
  readonly context: ReplicaContext;
  readonly sender: EntrySender;
  readonly follower: LogFollower;
  readonly difference: CopyDifference;
}
