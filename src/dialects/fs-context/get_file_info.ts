// `get_file_info`: about one file or directory.
import { text, tool } from "../../contract/tool.ts";
import { describeInfo, infoOf, infoSchema } from "./info.ts";
import { output } from "./output.ts";

export const getFileInfo = tool({
  name: "get_file_info",
  title: "Get file info",
  description:
    "Get metadata about a file or directory without reading contents: name, path, type, size, created, modified, " +
    "accessed, permissions, isHidden, mimeType, symlinkTarget (if applicable).",
  input: {
    type: "object",
    properties: { path: { type: "string", description: "Path to file or directory." } },
    required: ["path"],
  },
  output: output({ info: infoSchema }),
  effect: "reads",
  leaf: true,
  paths: ["path"],
  run(params, call) {
    const info = infoOf(params.path, call, { mime: true });
    return text(describeInfo(info), { ok: true, info });
  },
});
