// `write_file`: a whole file, exactly as given.
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { encode } from "../../engine/text/text.ts";
import { pathAt } from "./names.ts";
import { otherNames, writing } from "./writing.ts";

export const writeFile = tool({
  name: "write_file",
  title: "Write file",
  description:
    "Create a file or overwrite it with the given content, exactly and atomically. The parent directory must exist.",
  input: {
    type: "object",
    properties: {
      path: { type: "string", description: "Destination, relative to the workspace or absolute." },
      content: { type: "string", description: "Full content to write, exactly." },
    },
    required: ["path", "content"],
    additionalProperties: false,
  },
  effect: "writes",
  idempotent: true,
  paths: ["path"],
  async run({ path, content }, call) {
    const at = pathAt(call, path);
    if (at.isRoot) throw new Fault("not_a_file", { path: at.given, kind: "directory" });
    const bytes = await encode(at.given, content);
    const commit = await call.workspace.commit([{ kind: "write", path: at, bytes }], writing(call));
    const effect = commit.files[0]?.effect === "created" ? "created" : "overwritten";
    return text(
      `Wrote ${bytes.length} bytes to ${at.given} (${effect}).${otherNames(commit, call.settings)}`,
    );
  },
});
