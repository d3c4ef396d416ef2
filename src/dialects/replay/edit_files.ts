// `edit_files`: the same edits in many files. All paths are resolved and checked before the first change; from then
// on each file is independent, and failures are reported in their place.
import type { CallContext } from "../../contract/context.ts";
import { tool } from "../../contract/tool.ts";
import { Fault } from "../../engine/fault.ts";
import { walk } from "../../engine/search/walk.ts";
import { dryRunProperty, editFile, editsProperty, preview, type ReplayEditParams } from "./editing.ts";
import { isGlob, Trees } from "./globs.ts";
import { leadsTo } from "./leads-to.ts";
import { type AllowedPath, readable, writable } from "./paths.ts";
import { toldInline } from "./words.ts";

/** How many files are worked on at a time. */
const width = 8;

export const editFiles = tool({
  name: "edit_files",
  title: "Edit files",
  description:
    "Make the same edits in many files, given by absolute paths and globs. Edits are those of edit_file. Each file is " +
    "edited separately; one that fails is reported in its place. Preview with dryRun: this rewrites many files.",
  input: {
    type: "object",
    properties: {
      paths: {
        type: "array",
        minItems: 1,
        items: { type: "string" },
        description: "Absolute paths and globs (anything with * ? { } [ is a glob).",
      },
      edits: editsProperty,
      dryRun: dryRunProperty,
    },
    required: ["paths", "edits"],
  },
  effect: "writes",
  paths: ["paths"],
  async run({ paths, edits, dryRun }, call) {
    const files = await resolved(paths, dryRun ? readable : writable, call);
    const items = new Array<string>(files.length);
    let next = 0;
    const work = async () => {
      for (let i = next++; i < files.length; i = next++) {
        items[i] = await edited(files[i] as AllowedPath, edits, dryRun, call);
        call.progress(i + 1, files.length);
      }
    };
    await Promise.all(Array.from({ length: Math.min(width, files.length) }, work));
    return { content: items.map(item => ({ type: "text", text: item }) as const) };
  },
});

async function edited(
  file: AllowedPath,
  edits: readonly ReplayEditParams[],
  dryRun: boolean,
  call: CallContext,
): Promise<string> {
  try {
    if (!dryRun) {
      await editFile(file, edits, call);
      return `Successfully edited ${file.at}`;
    }
    const diff = await preview(file, edits, call);
    return diff === "(no changes)" ? `${file.at}: ${diff}` : diff;
  } catch (error) {
    call.failedInPart?.(error);
    const { code, message } = toldInline(error);
    return `${file.at}: [error ${code}] ${message}`;
  }
}

/** The files, each once: an edit applied twice may not be the requested one. */
async function resolved(
  paths: readonly string[],
  allowed: typeof readable,
  call: CallContext,
): Promise<AllowedPath[]> {
  const files = new Map<string, AllowedPath>();
  for (const entry of paths) {
    const named = isGlob(entry) ? await matching(entry, call) : [entry];
    for (const given of named) {
      const file = allowed(call.workspace, given);
      if (!files.has(file.at)) files.set(file.at, file);
    }
  }
  return [...files.values()];
}

async function matching(glob: string, { workspace, signal }: CallContext): Promise<string[]> {
  using selected = Trees.of(workspace, [glob]);
  if (selected.outside > 0) throw new Fault("outside_roots", { path: glob });
  const found: string[] = [];
  for (const { directory, include } of selected.trees) {
    const start = workspace.at(directory.path);
    for await (const { kind, path } of walk(directory, { include, signal })) {
      // A link counts as its target; one that leads outside is refused with the rest of the call.
      const leads = kind === "symlink" ? leadsTo(workspace, start.below(path)) : kind;
      if (leads === "file" || leads === "outside") found.push(`${directory.path}/${path}`);
    }
  }
  if (found.length === 0) throw new Fault("nothing_matches", { glob });
  return found;
}
