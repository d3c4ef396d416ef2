// The description of a workspace, as its file has it.
import type { Origin, WorkspaceId } from "../store.ts";

/** The part of `WorkspaceInfo` that never changes. */
export interface About {
  readonly id: WorkspaceId;
  readonly name: string;
  readonly parent?: Origin;
  readonly created: number;
  readonly about: Readonly<Record<string, string>>;
}

/** What is remembered of a workspace: it never changes. */
export interface RememberedWorkspace {
  readonly about: About;
  /** Of the description, under both names. */
  readonly inode: number;
  readonly device: number;
}
