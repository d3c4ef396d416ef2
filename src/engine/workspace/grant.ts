// Granted directories, opened as the roots of a workspace, and the directories of a workspace as roots of a smaller one.
import { isAbsolute, resolve } from "node:path";
import { Fault } from "../fault.ts";
import { liesInConcealed } from "./concealed.ts";
import type { EngineCaches } from "./engine-caches.ts";
import { display } from "./handle.ts";
import { parsePath, type WorkspacePath } from "./path.ts";
import { reserveIn } from "./reserved.ts";
import { resolvePath } from "./resolve.ts";
import { type Access, isWithin, Root } from "./root.ts";
import { type PolicySource, Rules } from "./rules.ts";
import { canonicalPath } from "./system/named-file.ts";

/** A directory to grant. */
export interface Grant {
  readonly path: string;
  readonly access: Access;
  /** Directories that it is a copy of: rules about their paths hold for the same paths in it. */
  readonly standsFor?: readonly string[] | undefined;
}

/** What matters of how a workspace is opened. */
interface OpeningOptions {
  readonly rules?: PolicySource | undefined;
  readonly narrowing?: readonly PolicySource[] | undefined;
  readonly onlyLooks?: boolean | undefined;
}

/** The same directory twice is one root; read-write wins. */
export function openRoots(
  grants: readonly Grant[],
  caches: EngineCaches,
  { rules: source, narrowing, onlyLooks }: OpeningOptions = {},
): Root[] {
  const roots: Root[] = [];
  const rules = new Rules(source, narrowing);
  reserveIn(
    grants.map(({ path }) => resolve(path)),
    { makes: onlyLooks !== true },
  );
  for (const grant of grants) {
    const root = new Root(resolve(grant.path), grant.access, undefined, rules, caches);
    if (liesInConcealed(root.handle)) {
      for (const opened of [root, ...roots]) opened[Symbol.dispose]();
      throw new Fault("permission_denied", { path: grant.path }); // it is the server's own
    }
    const same = roots.findIndex(other => other.is({ dev: root.device, ino: root.inode }));
    if (same < 0) roots.push(root);
    else if (root.access === "read-write" && roots[same]?.access === "read-only") {
      roots[same]?.[Symbol.dispose]();
      roots[same] = root;
    } else root[Symbol.dispose]();
  }
  for (const { path, handle, spelling } of roots) {
    const standsFor = grants.find(grant => resolve(grant.path) === spelling)?.standsFor;
    rules.addBase({ path, whereabouts: () => display(handle.whereabouts()), standsFor });
  }
  return roots;
}

/** Opens a directory as a root, with the access and the rules of the root that contains it. */
export function rootAt(roots: readonly Root[], path: WorkspacePath, access?: Access): Root {
  const { handle, root } = resolvePath(roots, path);
  const spelling = isAbsolute(path.given) ? resolve(path.given) : path.absolute;
  return new Root(
    spelling,
    root.access === "read-only" ? "read-only" : (access ?? root.access),
    handle,
    root.rules,
    root.caches,
  );
}

/** Some directories of a workspace as roots, each with the requested access or less. */
export function partOf(roots: readonly Root[], grants: readonly Grant[]): Root[] {
  const own: Root[] = [];
  try {
    for (const { path, access } of grants) own.push(rootAt(roots, parsePath(roots, path), access));
    // A read-only directory stays read-only inside a writable one.
    for (const inner of roots.filter(({ access }) => access === "read-only")) {
      const place = inner.handle.whereabouts();
      const isListed = own.some(root => root.is({ dev: inner.device, ino: inner.inode }));
      if (!isListed && own.some(root => root.holds(place))) own.push(inner.withRules(inner.rules));
    }
    return own;
  } catch (error) {
    for (const root of own) root[Symbol.dispose]();
    throw error;
  }
}

/** Closes the roots and throws if one can be written and holds a file that decides about callers. */
export function refuseDecidingFiles(roots: readonly Root[], decidingFiles: readonly string[] = []): void {
  const files = decidingFiles.map(canonicalPath);
  const refused = roots.find(
    root => root.access === "read-write" && files.some(file => isWithin(file, root.path)),
  );
  if (refused === undefined) return;
  for (const root of roots) root[Symbol.dispose]();
  throw new Fault("permission_denied", { path: refused.spelling });
}
