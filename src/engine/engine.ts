// Everything that a call may reach: the workspace and, through it, history, commands and versions. One engine serves
// a process; dialects and transports share it.

import { askProgram } from "./shell/ask-program.ts";
import { attributeCopier } from "./shell/attributes.ts";
import { wholeFlushes } from "./shell/flush-file-system.ts";
import type { Sandbox } from "./shell/launch.ts";
import { fileIdentity } from "./workspace/commit/copy-attributes.ts";
import { refuseStateIn } from "./workspace/commit/state-in-root.ts";
import { namedStatePath } from "./workspace/commit/state-path.ts";
import { openUserDirectory } from "./workspace/commit/user-directory.ts";
import type { Grant } from "./workspace/grant.ts";
import { noteOwn } from "./workspace/reserved.ts";
import type { Access } from "./workspace/root.ts";
import type { PolicySource } from "./workspace/rules.ts";
import { LinkFarms } from "./workspace/system/link-farm.ts";
import { askProgramsBy } from "./workspace/system/this-machine.ts";
import { provideWholeFlush } from "./workspace/system/whole-flush.ts";
import { Workspace } from "./workspace/workspace.ts";
import type { Workspaces } from "./workspaces/workspaces.ts";

/** What a command asks for, within what was allowed; by default all of it. */
export interface Wants {
  readonly network: boolean;
}

/** Open directories, and what calls may do in them. */
export interface Engine extends Disposable {
  readonly workspace: Workspace;
  /** Confines commands to a workspace; absent without a sandbox. */
  readonly confine?: ((workspace: Workspace, wants?: Wants) => Sandbox) | undefined;
  /** Forks that can be made, compared and merged; absent where none are served. */
  readonly workspaces?: Workspaces | undefined;
}

/** What an engine opens, and under which rules. */
export interface EngineOptions {
  /** The directories, the most important one first: relative paths start there. */
  readonly roots: readonly Grant[];
  /** Where journals, locks and history are kept. Default: the user's state directory. */
  readonly state?: string | undefined;
  readonly confine?: Engine["confine"];
  readonly workspaces?: Workspaces | undefined;
  /** Rules that hold for every root, asked at every call. */
  readonly rules?: PolicySource | undefined;
  /** Files that decide what callers may do, such as the policy. No directory that holds one is opened for writing. */
  readonly decidingFiles?: readonly string[] | undefined;
  /** Lets callers that choose their own directory open any, with this access. Default: none. */
  readonly anyDirectory?: Access | undefined;
  /** Directories of the program itself: where they are in a root, they are made and no caller reaches them. */
  readonly own?: readonly string[] | undefined;
  /** Lets tools remove what undo could not restore. Default: they refuse (`irrevocable`). */
  readonly allowIrrevocable?: boolean | undefined;
}

/**
 * Opens directories. Nothing outside of them can be reached through the engine. Dispose of it when done (`using`, or
 * `engine[Symbol.dispose]()`). Faults: `not_found`, `not_a_directory`, `permission_denied` if a root cannot be
 * served; `state_in_root`.
 */
export function openEngine(options: EngineOptions): Engine {
  const { roots, state, confine, workspaces, rules, allowIrrevocable, anyDirectory, decidingFiles } = options;
  askProgramsBy(askProgram);
  refuseStateIn(
    roots.map(({ path }) => path),
    state,
  );
  noteOwn([...(options.own ?? []), namedStatePath(state)].filter(place => place !== undefined));
  provideWholeFlush(wholeFlushes);
  const farms = new LinkFarms(openUserDirectory);
  const workspace = Workspace.open(roots, {
    state,
    rules,
    allowIrrevocable,
    anyDirectory,
    decidingFiles,
    ...(workspaces && {
      admit: (changed, changes) => workspaces.usage.admit(changed, changes),
      refuseUnusable: changed => workspaces.refuseUnusable(changed),
    }),
    opens: path => workspaces?.isOpening(path) ?? false,
    copyAttributes: attributeCopier({
      identify: fileIdentity,
      links: (from, to, target) => farms.links(from, to, target),
    }),
  });
  workspaces?.attach(workspace);
  let disposed = false;
  return {
    get workspace() {
      if (disposed) throw new Error("this engine has been disposed of: open another one with openEngine()");
      return workspace;
    },
    confine,
    workspaces,
    [Symbol.dispose]() {
      disposed = true;
      workspace[Symbol.dispose]();
    },
  };
}
