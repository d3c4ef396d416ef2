// Files that the built-in rules would deny or mask and that the rules in force show: for `polyfs doctor`.
import { clock } from "../engine/clock.ts";
import { defaultRules } from "../engine/policy/default-rules.ts";
import { Policy } from "../engine/policy/policy.ts";
import type { Directory } from "../engine/workspace/directory.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";

const mostMs = 2000;
const mostNamed = 1000;
/** Large, and not where people keep secrets. */
const skipped = new Set(["node_modules", ".git"]);

export interface ReadableSecrets {
  /** Absolute paths. */
  readonly paths: readonly string[];
  /** Whether everything was checked within the time limit. */
  readonly isComplete: boolean;
}

export function readableSecrets(workspace: Workspace, timeMs = mostMs): ReadableSecrets {
  const builtIn = new Policy(defaultRules);
  const paths: string[] = [];
  const end = clock() + timeMs;
  const look = (directory: Directory): boolean => {
    using open = directory;
    for (const entry of open.entries()) {
      if (clock() > end || paths.length >= mostNamed) return false;
      const at = `${open.path === "/" ? "" : open.path}/${entry.name}`;
      const { path } = open.root;
      if (entry.kind === "file") {
        const isSecret = builtIn.decide(path, at.slice(path.length + 1)).contents !== "full";
        if (isSecret && workspace.isShownWhole(at)) paths.push(at);
      } else if (entry.kind === "directory" && !skipped.has(entry.name)) {
        const child = open.child(entry);
        if (child !== undefined && !look(child)) return false;
      }
    }
    return true;
  };
  const isComplete = workspace.roots.every(root => look(workspace.directory(workspace.at(root.path))));
  return { paths, isComplete };
}
