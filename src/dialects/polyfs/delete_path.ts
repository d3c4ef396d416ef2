// `delete_path`: deletes a file, or a directory with all that it holds. Of a link only the link goes.
import type { CallContext } from "../../contract/context.ts";
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { Fault, type Kind } from "../../engine/fault.ts";
import { walk } from "../../engine/search/walk.ts";
import { humanSize } from "../../engine/text/size.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { notes, refuseStale, versionProperty, writing } from "./writing.ts";

const maxEntries = 100_000;

export const deletePath = polyfsTool({
  name: "delete_path",
  title: "Delete",
  description: "Delete a file or directory; undo brings it back.",
  input: {
    type: "object",
    properties: {
      path: { type: "string" },
      recursive: { type: "boolean" },
      if_version: versionProperty,
    },
    required: ["path"],
  },
  effect: "writes",
  paths: ["path"],
  async run({ path: written, recursive, if_version }, call) {
    const path = pathAt(call, written);
    const { workspace } = call;
    const doomed = await measure(path, call);
    if (recursive || doomed.kind !== "directory") refuseUnkept(doomed, call);
    const change = { kind: "remove", path, recursive } as const;
    const commit =
      if_version === undefined
        ? await workspace.commit([change], writing(call))
        : await workspace.editAll(
            [path],
            ([file]) => {
              refuseStale(path, file?.bytes, if_version);
              return [change];
            },
            writing(call),
          );
    return text([`deleted ${doomed.what}`, ...notes(commit, call)].join("\n"));
  },
});

interface Doomed {
  readonly kind: Kind;
  /** `src/a.ts`, `link (a link)`, `build/ (120 entries)` */
  readonly what: string;
  readonly bytes: number;
  /** The size of the largest file. */
  readonly largest: number;
  /** Something that undo could not bring back, and why. */
  readonly lost?: string;
}

/** PATH_MAX without its final zero: nothing is restored where no program could name it. */
const longestPath = 4095;

async function measure(path: WorkspacePath, { workspace, signal }: CallContext): Promise<Doomed> {
  const name = printable(path.given);
  const { kind, size } = workspace.lstat(path);
  if (kind === "symlink") return { kind, what: `${name} (a link)`, bytes: 0, largest: 0 };
  if (kind !== "directory" || path.isRoot) {
    const lost = unkeepable(kind, name, () => workspace.unmaskedFile(path));
    return { kind, what: name, bytes: size, largest: size, ...(lost !== undefined && { lost }) };
  }
  using directory = workspace.directory(path);
  let entries = 0;
  let bytes = 0;
  let largest = 0;
  let lost: string | undefined;
  const room = longestPath - Buffer.byteLength(path.absolute);
  const found = walk(directory, { maxEntries, signal });
  for await (const entry of found) {
    entries++;
    const own = entry.kind === "file" ? (entry.stat()?.size ?? 0) : 0;
    bytes += own;
    largest = Math.max(largest, own);
    if (lost !== undefined) continue;
    if (entry.path.length >= room) lost = "a path in it is longer than a path may be";
    else lost = unkeepable(entry.kind, printable(entry.path), () => entry.parent?.file(entry));
  }
  if (found.report.inaccessible > 0) lost ??= "a directory in it cannot be read";
  const count = `${entries === maxEntries ? "at least " : ""}${counted(entries, "entry", "entries")}`;
  return { kind, what: `${name}/ (${count})`, bytes, largest, ...(lost !== undefined && { lost }) };
}

/** Why something cannot be kept for undo. Root reads everything, so that is not tried. */
function unkeepable(kind: Kind, name: string, open: () => Disposable | undefined): string | undefined {
  if (kind === "directory" || kind === "symlink") return undefined;
  if (kind !== "file") return `${name} is a ${kind}`;
  if (process.geteuid?.() === 0) return undefined;
  try {
    open()?.[Symbol.dispose]();
    return undefined;
  } catch (error) {
    if (Fault.is(error, "permission_denied")) return `${name} cannot be read`;
    throw error;
  }
}

/** What cannot be kept would be gone for good: that is for the user to say. */
function refuseUnkept({ what, bytes, largest, lost }: Doomed, { workspace, settings }: CallContext): void {
  if (settings.allowIrrevocable) return;
  const allow = "the server can be started with --allow-irrevocable";
  if (lost !== undefined)
    throw new Fault("denied", { what: `${what} could not be brought back by undo: ${lost} (${allow})` });
  const { maxFileBytes, maxChangeBytes } = workspace.archive.limits;
  if (largest <= maxFileBytes && bytes <= maxChangeBytes) return;
  const limits = `${humanSize(maxFileBytes)} in a file, ${humanSize(maxChangeBytes)} in all`;
  throw new Fault("denied", {
    what: `${what} has ${humanSize(bytes)}, more than undo keeps (${limits}): it would be gone for good (${allow})`,
  });
}
