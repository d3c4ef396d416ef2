// A command line that only asks: --help or --version. Both are answered on stdout, for pagers and scripts.
import { version } from "../version.ts";
import { commands } from "./commands.ts";
import type { OptionLayer } from "./layer.ts";
import { print } from "./print.ts";

export async function answered({ values }: OptionLayer): Promise<boolean> {
  if (values.help) await print(process.stdout, await (await import("./help.ts")).help(commands));
  else if (values.version) await print(process.stdout, `${version}\n`);
  else return false;
  return true;
}
