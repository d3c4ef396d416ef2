// The options that concern workspaces, as further lines of the table of options.
import type { Option } from "./option.ts";

export const workspacesOptions = {
  workspaces: {
    kind: "text",
    value: "DIR",
    help: "Serve the workspaces in DIR: forks of a tree that can be compared, merged and dropped",
  },
  "workspace-name": {
    kind: "text",
    value: "NAME",
    help: "With --workspaces: the workspace to serve on stdin and stdout; over HTTP, at /mcp",
  },
  "workspace-max-bytes": {
    kind: "number",
    default: 0,
    help: "With --workspaces: maximum size of a fork, without what it shares with its base; 0: no limit",
  },
  "workspace-max-files": {
    kind: "number",
    default: 0,
    help: "With --workspaces: maximum number of files of a fork, without those that it shares with its base; 0: no limit",
  },
  "workspace-max-age": {
    kind: "text",
    value: "TIME",
    help: "With --workspaces: drop forks unused for this long, such as 14d (default 30d; never)",
  },
  "workspace-keep-dropped": {
    kind: "text",
    value: "TIME",
    help: "With --workspaces: how long a dropped workspace can be restored (default 7d)",
  },
} as const satisfies Record<string, Option>;
