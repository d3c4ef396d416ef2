// Operations as calls of our own tools.
import { createHash } from "node:crypto";
import { pathToFileURL } from "node:url";
import type { Block, Changing, Reading } from "./operation.ts";

export interface Call {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** How a path of the program is written in a call. */
export type Spelling = (path: string) => string;

export const spellings = (root: string, program: string): readonly Spelling[] => [
  path => `${program}/${path}`,
  path => `${root}/${program}/${path}`,
  path => pathToFileURL(`${root}/${program}/${path}`).href,
  path => `./${program}/./${path}`,
];

export function versionOf(bytes: Buffer): string {
  return `v:${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}`;
}

export function callOf(operation: Changing | Reading, at: Spelling): Call {
  switch (operation.do) {
    case "write": {
      const { path, content, mode } = operation;
      return { tool: "write_file", args: { path: at(path), content, mode } };
    }
    case "edit": {
      const edits = operation.edits.map(one => {
        if ("line" in one) return { start_line: one.line, end_line: one.line, new: one.new };
        return "after" in one ? { insert_after: one.after, new: one.new } : one;
      });
      const if_version = operation.base && versionOf(operation.base);
      return {
        tool: "edit_file",
        args: { path: at(operation.path), edits, ...(if_version && { if_version }) },
      };
    }
    case "patch":
      return { tool: "apply_patch", args: { patch: printed[operation.notation](operation.blocks, at) } };
    case "move":
    case "copy": {
      const { from, to, overwrite } = operation;
      return { tool: `${operation.do}_path`, args: { from: at(from), to: at(to), overwrite } };
    }
    case "delete":
      return { tool: "delete_path", args: { path: at(operation.path), recursive: operation.recursive } };
    case "mkdir":
      return { tool: "create_directory", args: { path: at(operation.path) } };
    case "read": {
      const { path, offset, limit } = operation;
      return { tool: "read_file", args: { path: at(path), offset, limit } };
    }
    case "list":
      return { tool: "list_directory", args: { path: at(operation.path), ignored: true } };
    case "find": {
      const { path, pattern } = operation;
      return {
        tool: "find_files",
        args: { path: at(path), pattern, sort: "path", limit: 1000, ignored: true },
      };
    }
    case "search": {
      const { path, text } = operation;
      return { tool: "search_text", args: { path: at(path), pattern: text, literal: true, ignored: true } };
    }
  }
}

const printed = { unified, envelope };

function unified(blocks: readonly Block[], at: Spelling): string {
  const parts = blocks.map(block => {
    const path = at(block.path);
    if (block.kind === "create")
      return [`--- /dev/null`, `+++ b/${path}`, `@@ -0,0 +1,${block.lines.length} @@`, ...added(block.lines)];
    if (block.kind === "delete") throw new Error("a unified diff of a deletion needs the content");
    const count = block.stands.length;
    return [
      `--- a/${path}`,
      `+++ b/${block.to === undefined ? path : at(block.to)}`,
      `@@ -${block.from},${count} +${block.from},${count} @@`,
      ...hunk(block),
    ];
  });
  return `${parts.flat().join("\n")}\n`;
}

function envelope(blocks: readonly Block[], at: Spelling): string {
  const parts = blocks.map(block => {
    const path = at(block.path);
    if (block.kind === "create") return [`*** Add File: ${path}`, ...added(block.lines)];
    if (block.kind === "delete") return [`*** Delete File: ${path}`];
    const to = block.to === undefined ? [] : [`*** Move to: ${at(block.to)}`];
    return [`*** Update File: ${path}`, ...to, "@@", ...hunk(block)];
  });
  return ["*** Begin Patch", ...parts.flat(), "*** End Patch", ""].join("\n");
}

function added(lines: readonly string[]): string[] {
  return lines.map(line => `+${line}`);
}

function hunk({ stands, at, new: made }: Block & { kind: "modify" }): string[] {
  return stands.flatMap((line, i) => (i === at ? [`-${line}`, `+${made}`] : [` ${line}`]));
}
