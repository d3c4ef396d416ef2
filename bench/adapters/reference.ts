// The calls of the reference server, which other servers copied, and what one of them lacks.
import { type Calls, call } from "../jobs.ts";

export const reference: Calls = {
  read: ({ path }) => call("read_text_file", { path }),
  readMany: ({ paths }) => call("read_multiple_files", { paths }),
  tail: ({ path, count }) => call("read_text_file", { path, tail: count }),
  list: ({ path }) => call("list_directory", { path }),
  tree: ({ path }) => call("directory_tree", { path, excludePatterns: ["node_modules", ".git"] }),
  glob: ({ path, ending }) =>
    call("search_files", { path, pattern: `**/*${ending}`, excludePatterns: ["**/node_modules/**"] }),
  write: ({ path, content }) => call("write_file", { path, content }),
  edit: ({ path, edits }) =>
    call("edit_file", { path, edits: edits.map(edit => ({ oldText: edit.old, newText: edit.new })) }),
  patch: ({ files }) => files.flatMap(file => reference.edit?.(file) ?? []),
};
