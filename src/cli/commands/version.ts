// `polyfs version`: the same as --version.
import { version as current } from "../../version.ts";
import { print } from "../print.ts";
import { command } from "./command.ts";

export const version = command({
  name: "version",
  operands: "",
  description: "Prints the version of the program.",
  own: {},
  options: [],
  examples: [["polyfs version", "for a bug report"]],
  most: 0,
  async run() {
    await print(process.stdout, `${current}\n`);
    return 0;
  },
});
