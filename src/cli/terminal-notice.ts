// A server that is started on a terminal waits for a protocol that people do not type. It says so, and what to do.
import type { Workspace } from "../engine/workspace/workspace.ts";
import { print } from "./print.ts";

export async function explainWaiting({ roots }: Workspace, dialect: string): Promise<void> {
  const served = roots.map(({ path, access }) => `  ${path} (${access})\n`).join("");
  await print(
    process.stderr,
    `polyfs serves the dialect ${dialect} and waits for an MCP client on stdin.\n${served}
MCP clients start this program themselves. To connect one:  polyfs setup
To call a tool from the shell:                              polyfs call TOOL JSON
To serve over HTTP:                                         polyfs --http PORT DIR
Press Ctrl-D or Ctrl-C to end.
`,
  );
}
