// What a start of the program means: a subcommand, a question (--help, --version), or serving.
import { version } from "../version.ts";
import { readCommandLine } from "./command-line.ts";
import { commands } from "./commands.ts";
import { configure } from "./config.ts";
import { UsageError } from "./usage-error.ts";

/** Resolves to the exit code: 0, or 2 where the start itself was wrong. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    const [word = "", ...rest] = args;
    // Only the bare word is a command: a directory of that name is `./word`.
    const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
    const line = readCommandLine(command === undefined ? args : rest, process.cwd());
    if (line.values.help) await print(await (await import("./help.ts")).help());
    else if (line.values.version) await print(`${version}\n`);
    else {
      const run = command === undefined ? (await import("./serve.ts")).serve : await command.load();
      return await run(configure(line, environment, process.cwd()));
    }
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`polyfs: ${error.message}\n`);
    return 2;
  }
}

export function print(text: string): Promise<void> {
  return new Promise(resolve => process.stdout.write(text, () => resolve()));
}
