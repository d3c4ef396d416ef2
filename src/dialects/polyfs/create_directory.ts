// `create_directory`: creates a directory and its parents. An existing one is fine.
import { text } from "../../contract/tool.ts";
import { printable } from "../../contract/wording.ts";
import { pathAt } from "./paths.ts";
import { polyfsTool } from "./polyfs-tool.ts";
import { notes, writing } from "./writing.ts";

export const createDirectory = polyfsTool({
  name: "create_directory",
  title: "Create directory",
  description: "Create a directory and its parents.",
  input: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
  effect: "writes",
  destructive: false,
  idempotent: true,
  paths: ["path"],
  async run({ path: written }, call) {
    const path = pathAt(call, written);
    const commit = await call.workspace.commit([{ kind: "mkdir", path }], writing(call));
    const did = commit.files[0]?.effect === "created" ? "created" : "exists";
    return text([`${did} ${printable(path.given)}/`, ...notes(commit, call)].join("\n"));
  },
});
