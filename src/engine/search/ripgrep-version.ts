// The version of ripgrep, for checking whether it works at all.
import { startProcess } from "../shell/process.ts";

/** As it reports it: `ripgrep 14.1.1`. Undefined if it cannot be started. */
export async function ripgrepVersion(): Promise<string | undefined> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const started = await startProcess(rgPath, ["--version"], { cwd: process.cwd(), env: {} });
    let output = "";
    for await (const chunk of started.output) output += chunk.toString("utf8");
    const { code } = await started.exit;
    return code === 0 ? output.split("\n")[0] : undefined;
  } catch {
    return undefined;
  }
}
