// `delete_path`: deletes a file, or a directory with all that it holds. Of a link only the link goes.
import type { CallContext } from "../../contract/context.ts";
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { walk } from "../../engine/search/walk.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { counted } from "./answer.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { notes, refuseNoVersion, refuseStale, refuseVersionOf, versionProperty, writing } from "./writing.ts";

const maxEntries = 100_000;

export const deletePath = polyfsTool({
  name: "delete_path",
  title: "Delete",
  description: "Delete a file or directory; undo restores it.",
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
    refuseNoVersion(if_version);
    const path = pathAt(call, written);
    const { workspace } = call;
    refuseVersionOf(workspace.lstat(path), path, if_version);
    const what = await described(path, call);
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
    return text([`deleted ${what}`, ...notes(commit, call)].join("\n"));
  },
});

/** `src/a.ts`, `link (a link)`, `build/ (120 entries)` */
async function described(path: WorkspacePath, { workspace, signal }: CallContext): Promise<string> {
  const name = printable(path.given);
  const { kind } = workspace.lstat(path);
  if (kind === "symlink") return `${name} (a link)`;
  if (kind !== "directory" || path.isRoot) return name;
  using directory = workspace.directory(path);
  let entries = 0;
  for await (const _ of walk(directory, { maxEntries, signal })) entries++;
  const count = `${entries === maxEntries ? "at least " : ""}${counted(entries, "entry", "entries")}`;
  return `${name}/ (${count})`;
}
