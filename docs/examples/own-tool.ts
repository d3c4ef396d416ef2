// A tool of your own beside those of a dialect: its parameters are typed from its schema, its paths are confined to
// the directories, and what it writes can be undone like everything else.
import { type Dialect, dialects, text, tool } from "polyfs";

const stamp = tool({
  name: "stamp_file",
  title: "Stamp a file",
  description: "Write the current time into a file.",
  input: {
    type: "object",
    properties: { path: { type: "string" }, note: { type: "string", default: "" } },
    required: ["path"],
  },
  effect: "writes",
  paths: ["path"],
  async run({ path, note }, { workspace }) {
    const bytes = Buffer.from(`${new Date().toISOString()} ${note}\n`);
    const commit = await workspace.commit([{ kind: "write", path: workspace.at(path), bytes }]);
    return text(`Stamped ${path} (change ${commit.id})`);
  },
});

export async function withStamp(): Promise<Dialect> {
  const polyfs = await dialects.polyfs();
  return { ...polyfs, tools: [...polyfs.tools, stamp] };
}
