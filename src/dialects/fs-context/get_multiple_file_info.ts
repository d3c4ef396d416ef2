// `get_multiple_file_info`: about many files and directories, each with its own success or error.
import { text, tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { humanSize } from "../../engine/text/size.ts";
import { type Info, infoOf, infoSchema } from "./info.ts";
import { batchSummarySchema, output, results as resultsSchema } from "./output.ts";
import { pathsProperty } from "./paths.ts";
import { type Failure, failureOf } from "./wording.ts";

type InfoResult =
  | { readonly path: string; readonly ok: true; readonly info: Info }
  | { readonly path: string; readonly ok: false; readonly error: Failure };

export const getMultipleFileInfo = tool({
  name: "get_multiple_file_info",
  title: "Get multiple file info",
  description:
    "Get metadata for multiple files/directories in parallel. Returns individual success/error status for each " +
    "path, plus a summary. Preferred for 2 or more paths.",
  input: {
    type: "object",
    properties: {
      paths: { ...pathsProperty, description: "Array of paths (max 100)." },
      includeMimeType: { type: "boolean", default: true, description: "Include MIME type detection." },
    },
    required: ["paths"],
  },
  output: output({ results: resultsSchema({ info: infoSchema }), summary: batchSummarySchema }),
  effect: "reads",
  leaf: true,
  paths: ["paths"],
  run(params, call) {
    const results = params.paths.map((path): InfoResult => {
      try {
        return { path, ok: true, info: infoOf(path, call, { mime: params.includeMimeType }) };
      } catch (error) {
        call.failedInPart?.(error);
        if (error instanceof Fault) return { path, ok: false, error: failureOf(error) };
        throw error;
      }
    });
    const infos = results.flatMap(result => (result.ok ? [result.info] : []));
    const totalSize = infos.reduce((sum, { type, size }) => sum + (type === "directory" ? 0 : size), 0);
    const summary = {
      total: results.length,
      succeeded: infos.length,
      failed: results.length - infos.length,
      totalSize,
    };
    const lines = [`File info (${infos.length}/${results.length} ok | ${humanSize(totalSize)}):`];
    for (const result of results) lines.push(result.ok ? line(result.info) : failed(result));
    return text(lines.join("\n"), { ok: true, results, summary });
  },
});

const marks = { file: "[FILE]", directory: "[DIR]", symlink: "[LINK]", other: "[OTHER]" };

function line({ path, type, size, modified, permissions, mimeType, symlinkTarget }: Info): string {
  const facts = [
    ...(type === "directory" ? [] : [humanSize(size)]),
    ...(mimeType === undefined ? [] : [mimeType]),
    `modified ${modified}`,
    permissions,
  ];
  const target = symlinkTarget === undefined ? "" : ` -> ${symlinkTarget}`;
  return `${marks[type]} ${path}${target} (${facts.join(", ")})`;
}

function failed({ path, error }: { readonly path: string; readonly error: Failure }): string {
  return `[ERROR] ${path}: ${error.message}`;
}
