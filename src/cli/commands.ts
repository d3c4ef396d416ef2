// The subcommands, by their first word. Each is loaded only when it is called.

interface Command {
  /** One line for --help. */
  readonly summary: string;
  /** Loads what runs it: from the arguments after the word to the exit code. */
  load(): Promise<(args: readonly string[], environment: NodeJS.ProcessEnv) => Promise<number>>;
}

export const commands: { readonly [name: string]: Command } = {
  tools: {
    summary: "List the tools of a dialect",
    load: async () => (await import("./tools.ts")).listTools,
  },
  token: {
    summary: "Add, list or remove tokens for --http",
    load: async () => (await import("./token.ts")).token,
  },
};
