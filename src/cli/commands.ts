// The subcommands, by their first word. Each is loaded only when it is called.
import type { Config } from "./config.ts";

export interface Command {
  /** One line for --help. */
  readonly summary: string;
  load(): Promise<(config: Config) => Promise<number>>;
}

export const commands: { readonly [name: string]: Command } = {
  tools: {
    summary: "List the tools of a dialect",
    load: async () => (await import("./tools.ts")).listTools,
  },
};
