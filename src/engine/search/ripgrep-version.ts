// Which ripgrep searches here, for those who want to know whether it works at all.
import { startProcess } from "../shell/process.ts";

/** As it says it: `ripgrep 14.1.1`. Undefined where it cannot be started. */
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
