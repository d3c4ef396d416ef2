// What clients read, in each dialect.
import { join } from "node:path";
import type { Chance } from "../chance.ts";
import type { Call } from "../model/calls.ts";
import { blobName, blobs } from "./blobs.ts";
import { ledgerName, ledgers } from "./ledger.ts";

type Kind = "read" | "list" | "find" | "search";

const tables: Readonly<Record<string, (kind: Kind, file: string, root: string) => Call>> = {
  polyfs: (kind, file) =>
    ({
      read: { tool: "read_file", args: { path: file } },
      list: { tool: "list_directory", args: { depth: 3 } },
      find: { tool: "find_files", args: { pattern: "*.txt" } },
      search: { tool: "search_text", args: { pattern: "slot-1 turn-\\d+" } },
    })[kind],
  reference: (kind, file, root) =>
    ({
      read: { tool: "read_text_file", args: { path: join(root, file) } },
      list: { tool: "list_directory", args: { path: join(root, "blob") } },
      find: { tool: "search_files", args: { path: root, pattern: "**/*.txt" } },
      search: { tool: "directory_tree", args: { path: root } },
    })[kind],
  replay: (kind, file, root) =>
    ({
      read: { tool: "read_file", args: { path: join(root, file) } },
      list: { tool: "list_directory", args: { path: root } },
      find: { tool: "glob_search", args: { directory: root, globs: ["*.txt"] } },
      search: { tool: "grep_files", args: { regex: "slot-1 turn", directory: root } },
    })[kind],
  "agent-tools": (kind, file) =>
    ({
      read: { tool: "read_file", args: { path: file } },
      list: { tool: "list_dir", args: {} },
      find: { tool: "glob", args: { pattern: "**/*.txt" } },
      search: { tool: "grep", args: { pattern: "slot-1 turn" } },
    })[kind],
  "file-editor": (kind, file) =>
    ({
      read: { tool: "read_files", args: { path: file } },
      list: { tool: "list_files", args: { path: "." } },
      find: { tool: "list_files", args: { path: ".", recursive: true } },
      search: { tool: "read_files", args: { path: file } },
    })[kind],
  "fs-context": (kind, file, root) =>
    ({
      read: { tool: "read_file", args: { path: join(root, file) } },
      list: { tool: "list_directory", args: { path: root } },
      find: { tool: "search_files", args: { path: root, pattern: "**/*.txt" } },
      search: { tool: "search_content", args: { path: root, pattern: "slot-1 turn" } },
    })[kind],
  fs: (kind, file) =>
    ({
      read: { tool: "fs.read_file", args: { path: file } },
      list: { tool: "fs.list_files", args: { recursive: false } },
      find: { tool: "fs.list_files", args: { include_globs: ["**/*.txt"] } },
      search: { tool: "fs.search_text", args: { query: "slot-1 turn" } },
    })[kind],
};

export const readingDialects: readonly string[] = Object.keys(tables);

export function reading(chance: Chance, dialect: string, root: string): { kind: Kind; call: Call } {
  const kind = chance.pick(["read", "read", "read", "list", "find", "search"] as const);
  const file = chance.below(2) === 0 ? ledgerName(chance.below(ledgers)) : blobName(chance.below(blobs));
  const table = tables[dialect];
  if (table === undefined) throw new Error(`no way to read in ${dialect}`);
  return { kind, call: table(kind, file, root) };
}
