// The directories between a granted root and the place where a walk starts: their ignore files count too.
import { Directory } from "../workspace/directory.ts";
import { Handle } from "../workspace/handle.ts";
import { type IgnorePolicy, IgnoreRules } from "./ignore.ts";

/** Where a walk starts, seen from its root: the path from there, and the rules that hold when it is entered. */
export interface Standpoint {
  /** "" or a path with a final slash. */
  readonly prefix: string;
  readonly rules: IgnoreRules;
}

export function standpoint(start: Directory, policy: IgnorePolicy): Standpoint {
  let rules = IgnoreRules.of(policy);
  const names = start.path
    .slice(start.root.path.length)
    .split("/")
    .filter(name => name !== "");
  if (names.length === 0) return { prefix: "", rules };
  const prefix = `${names.join("/")}/`;
  if (!policy.rules) return { prefix, rules };
  const { root } = start;
  let directory: Directory | undefined = Directory.open(
    { handle: Handle.open(root.handle.address), root, path: root.path },
    start.given,
  );
  let path = "";
  for (const name of names) {
    using current: Directory = directory;
    rules = rules.in(current, path, ruleEntries(current));
    directory = current.child({ name, kind: "directory" });
    if (directory === undefined) return { prefix, rules };
    path = path === "" ? name : `${path}/${name}`;
  }
  directory.close();
  return { prefix, rules };
}

/** The entries that may hold rules, without listing a directory that may be large. */
function ruleEntries(directory: Directory): { name: string; kind: "file" | "directory" }[] {
  const found: { name: string; kind: "file" | "directory" }[] = [];
  for (const name of [".rgignore", ".ignore", ".gitignore", ".git"]) {
    const kind = directory.stat({ name, kind: "file" })?.kind;
    if (kind === "file" || kind === "directory") found.push({ name, kind });
  }
  return found;
}
