// The subcommands, by their first word. Each is loaded only when it is called.
import type { Subcommands } from "./commands/command.ts";

export const commands: Subcommands = {
  setup: {
    summary: "Add polyfs to the configuration of an MCP client, or remove it",
    load: async () => (await import("./commands/setup.ts")).setup,
  },
  tools: {
    summary: "List the tools of a dialect, with parameters and token cost",
    load: async () => (await import("./commands/tools.ts")).tools,
  },
  call: {
    summary: "Call one tool from the shell",
    load: async () => (await import("./commands/call.ts")).callTool,
  },
  history: {
    summary: "Show what was changed, by whom, with diffs",
    load: async () => (await import("./commands/history.ts")).history,
  },
  undo: {
    summary: "Undo the last change, several changes, or single hunks",
    load: async () => (await import("./commands/undo.ts")).undoChange,
  },
  redo: {
    summary: "Redo what the last undo reverted",
    load: async () => (await import("./commands/redo.ts")).redo,
  },
  review: {
    summary: "Open a page to watch agents, review and undo changes, answer questions",
    load: async () => (await import("./commands/review.ts")).review,
  },
  workspace: {
    summary: "Fork a tree, compare and merge forks, drop them",
    load: async () => (await import("./commands/workspace.ts")).workspace,
  },
  watch: {
    summary: "Print what agents do as it happens",
    load: async () => (await import("./commands/watch.ts")).watch,
  },
  token: {
    summary: "Add, list or remove tokens for --http",
    load: async () => (await import("./commands/token.ts")).token,
  },
  store: {
    summary: "Set up, check, clean up and copy a shared store",
    load: async () => (await import("./commands/store.ts")).store,
  },
  audit: {
    summary: "Check that an audit log is intact",
    load: async () => (await import("./commands/audit.ts")).audit,
  },
  policy: {
    summary: "Explain and test the rules about paths",
    load: async () => (await import("./commands/policy.ts")).policy,
  },
  grant: {
    summary: "Allow, for a while, what the policy asks about",
    load: async () => (await import("./commands/grant.ts")).grant,
  },
  grants: {
    summary: "List the current grants",
    load: async () => (await import("./commands/grant.ts")).grants,
  },
  revoke: {
    summary: "Revoke a grant",
    load: async () => (await import("./commands/grant.ts")).revoke,
  },
  doctor: {
    summary: "Check what this machine offers: sandbox, search, file systems",
    load: async () => (await import("./commands/doctor.ts")).doctor,
  },
  selftest: {
    summary: "Test polyfs on this machine, and print a report to send",
    load: async () => (await import("./commands/selftest.ts")).selftest,
  },
  completion: {
    summary: "Print a completion script for bash, zsh or fish",
    load: async () => (await import("./commands/completion.ts")).completion(commands),
  },
  help: {
    summary: "Explain the program or one command",
    load: async () => (await import("./commands/help.ts")).helpOn(commands),
  },
  version: {
    summary: "Print the version",
    load: async () => (await import("./commands/version.ts")).version,
  },
};
