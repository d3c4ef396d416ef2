// `copy_path`: copies a file, or a directory with all that it holds.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { relocation } from "./relocating.ts";
import { notes, writing } from "./writing.ts";

export const copyPath = polyfsTool({
  name: "copy_path",
  title: "Copy",
  description: "Copy a file or directory.",
  input: { type: "object", properties: relocation, required: ["from", "to"] },
  effect: "writes",
  paths: ["from", "to"],
  async run({ from: source, to: destination, overwrite }, call) {
    const [from, to] = [pathAt(call, source), pathAt(call, destination)];
    call.workspace.lstat(from); // report a missing source before anything about the destination
    const commit = await call.workspace.commit([{ kind: "copy", from, to, overwrite }], writing(call));
    const done = `copied ${printable(from.given)} -> ${printable(to.given)}`;
    return text([done, ...notes(commit, call)].join("\n"));
  },
});
