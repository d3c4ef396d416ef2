// Dispatches a start of the program: a subcommand, --help or --version, or serving.
import { resolve } from "node:path";
import { printable } from "../contract/wording.ts";
import { readCommandLine } from "./command-line.ts";
import { commands } from "./commands.ts";
import { type Config, configure } from "./config.ts";
import { firstWord } from "./first-word.ts";
import { letHangUp } from "./hold-hang-up.ts";
import { logOf } from "./log.ts";
import { suggestion } from "./nearest.ts";
import { OutputError } from "./output-error.ts";
import { print } from "./print.ts";
import { answered } from "./question.ts";
import { serve } from "./serve.ts";
import { UsageError } from "./usage-error.ts";

/** Resolves to the exit code: 0; 1 where the output could not be written; 2 where the start itself was wrong. */
export async function main(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  let config: Config | undefined;
  try {
    const { word, others } = firstWord(args);
    // Only the bare word is a command: a directory of that name is `./word`.
    const command = Object.hasOwn(commands, word) ? commands[word] : undefined;
    if (command !== undefined) {
      letHangUp();
      return await (await command.load())(others, environment);
    }
    const line = readCommandLine(args, process.cwd());
    if (await answered(line)) return 0;
    await refuseMistyped(word);
    config = configure(line, environment, process.cwd());
    await serve(config);
    return 0;
  } catch (error) {
    if (error instanceof OutputError) {
      if (!error.closed) await complain(`the output could not be written: ${error.message}`);
      return 1;
    }
    if (!(error instanceof UsageError)) throw error;
    // Whatever collects the log of a service expects JSON in every line.
    if (config?.["log-format"] === "json") logOf(config).error(printable(error.message));
    else await complain(error.message);
    return 2;
  }
}

/** A plain word that is neither a command nor a directory was probably meant to be a command. */
async function refuseMistyped(word: string): Promise<void> {
  if (!/^[a-z]+$/.test(word)) return;
  const { isThere } = await import("./setup/configuration.ts");
  if (isThere(resolve(word))) return;
  const meant = suggestion(word, Object.keys(commands));
  throw new UsageError(
    `there is no command and no directory ${JSON.stringify(word)}${meant}; see polyfs --help`,
  );
}

async function complain(message: string): Promise<void> {
  await print(process.stderr, `polyfs: ${printable(message)}\n`);
}
