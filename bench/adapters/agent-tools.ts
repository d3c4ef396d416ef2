// The calls of the `agent-tools` contract.
import { type Calls, call } from "../jobs.ts";

export const agentTools: Calls = {
  read: ({ path, bytes }) => call("read_file", { path, limit: Math.max(2000, bytes) }),
  list: ({ path }) => call("list_dir", { path }),
  tree: ({ path }) => call("glob", { path, pattern: "**" }),
  glob: ({ path, ending }) => call("glob", { path, pattern: `**/*${ending}` }),
  search: ({ path, pattern, limit }) =>
    call("grep", {
      path,
      pattern,
      output_mode: "content",
      ...(limit !== undefined && { head_limit: limit }),
    }),
  write: ({ path, content }) => call("write_file", { path, content }),
  edit({ path, edits }) {
    const asked = edits.map(edit => ({ old_string: edit.old, new_string: edit.new }));
    return asked.length === 1
      ? call("edit_file", { path, ...asked[0] })
      : call("multi_edit", { path, edits: asked });
  },
  patch: ({ diff }) => call("apply_patch", { patch: diff }),
};
