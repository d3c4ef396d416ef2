// What a start of the program means: a subcommand, a question (--help, --version), or serving.
import { printable } from "../contract/wording.ts";
import { readCommandLine } from "./command-line.ts";
import { commands } from "./commands.ts";
import { configure } from "./config.ts";
import { print } from "./print.ts";
import { answered } from "./question.ts";
import { serve } from "./serve.ts";
import { UsageError } from "./usage-error.ts";

/** Resolves to the exit code: 0, or 2 where the start itself was wrong. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    const [word = "", ...rest] = args;
    // Only the bare word is a command: a directory of that name is `./word`.
    const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (command !== undefined) return await (await command.load())(rest, environment);
    const line = readCommandLine(args, process.cwd());
    if (!(await answered(line))) await serve(configure(line, environment, process.cwd()));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    await print(process.stderr, `polyfs: ${printable(error.message)}\n`);
    return 2;
  }
}
