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
import { ending, refuseStale, versionProperty, writing } from "./writing.ts";

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
    if (recursive || doomed.kind === "file") refuseUnkept(doomed, call);
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
    return text([`deleted ${doomed.what}`, ...ending(commit, call)].join("\n"));
  },
});

interface Doomed {
  readonly kind: Kind;
  /** `src/a.ts`, `link (a link)`, `build/ (120 entries)` */
  readonly what: string;
  readonly bytes: number;
  /** The size of the largest file. */
  readonly largest: number;
}

async function measure(path: WorkspacePath, { workspace, signal }: CallContext): Promise<Doomed> {
  const name = printable(path.given);
  const { kind, size } = workspace.lstat(path);
  if (kind === "symlink") return { kind, what: `${name} (a link)`, bytes: 0, largest: 0 };
  if (kind !== "directory" || path.isRoot) return { kind, what: name, bytes: size, largest: size };
  using directory = workspace.directory(path);
  let entries = 0;
  let bytes = 0;
  let largest = 0;
  for await (const entry of walk(directory, { maxEntries, signal })) {
    entries++;
    const own = entry.kind === "file" ? (entry.stat()?.size ?? 0) : 0;
    bytes += own;
    largest = Math.max(largest, own);
  }
  const count = `${entries === maxEntries ? "at least " : ""}${counted(entries, "entry", "entries")}`;
  return { kind, what: `${name}/ (${count})`, bytes, largest };
}

/** What is too large to be kept would be gone for good: that is for the user to say. */
function refuseUnkept({ what, bytes, largest }: Doomed, { workspace }: CallContext): void {
  const { maxFileBytes, maxChangeBytes } = workspace.archive.limits;
  if (largest <= maxFileBytes && bytes <= maxChangeBytes) return;
  const limits = `${humanSize(maxFileBytes)} in a file, ${humanSize(maxChangeBytes)} in all`;
  throw new Fault("denied", {
    what: `${what} has ${humanSize(bytes)}, more than undo keeps (${limits}): it would be gone for good`,
  });
}
