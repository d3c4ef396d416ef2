// `polyfs help [COMMAND]`: the text of --help.
import { suggestion } from "../nearest.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command, type RunCommand, type Subcommands } from "./command.ts";

export function helpOn(commands: Subcommands): RunCommand {
  return command({
    name: "help",
    operands: "[COMMAND]",
    description: "Explains the program, or one of its commands.",
    own: {},
    options: [],
    examples: [
      ["polyfs help", "all commands and options"],
      ["polyfs help undo", "the same as polyfs undo --help"],
    ],
    most: 1,
    async run({ operands: [name] }) {
      if (name === undefined) {
        await print(process.stdout, await (await import("../help.ts")).help(commands));
        return 0;
      }
      const wanted = Object.hasOwn(commands, name) ? commands[name] : undefined;
      if (wanted === undefined)
        throw new UsageError(
          `there is no command ${JSON.stringify(name)}${suggestion(name, Object.keys(commands))}; see polyfs --help`,
        );
      return await (await wanted.load())(["--help"], process.env);
    },
  });
}
