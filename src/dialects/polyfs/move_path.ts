// `move_path`: moves or renames a file or directory. A link is moved itself.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { relocation } from "./relocating.ts";
import { notes, refuseNoVersion, refuseStale, refuseVersionOf, versionProperty, writing } from "./writing.ts";

export const movePath = polyfsTool({
  name: "move_path",
  title: "Move or rename",
  description: "Move or rename a file or directory.",
  input: {
    type: "object",
    properties: { ...relocation, if_version: versionProperty },
    required: ["from", "to"],
  },
  effect: "writes",
  paths: ["from", "to"],
  async run({ from: source, to: destination, overwrite, if_version }, call) {
    refuseNoVersion(if_version);
    const [from, to] = [pathAt(call, source), pathAt(call, destination)];
    const { workspace } = call;
    refuseVersionOf(workspace.lstat(from), from, if_version); // what is wrong with the source comes before the destination
    const change = { kind: "move", from, to, overwrite } as const;
    const commit =
      if_version === undefined
        ? await workspace.commit([change], writing(call))
        : await workspace.editAll(
            [from],
            ([file]) => {
              refuseStale(from, file?.bytes, if_version);
              return [change];
            },
            writing(call),
          );
    const done = `moved ${printable(from.given)} -> ${printable(to.given)}`;
    return text([done, ...notes(commit, call)].join("\n"));
  },
});
