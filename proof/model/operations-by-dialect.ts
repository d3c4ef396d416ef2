// The same operations in other dialects, as far as they have them: plain ones only, because contracts differ about
// encodings, links and missing directories. What they change, our own tools must see, list and undo.
import type { Answer } from "../client/client.ts";
import type { Call } from "./calls.ts";
import type { Changing } from "./operation.ts";

/** Undefined if the dialect has no such operation. `at` is an absolute path. */
type DialectOperation = (operation: Changing, at: (path: string) => string) => Call | undefined;

function replacement(operation: Changing): { path: string; old: string; new: string } | undefined {
  if (operation.do !== "edit" || operation.edits.length !== 1) return undefined;
  const [one] = operation.edits;
  return one !== undefined && "old" in one ? { path: operation.path, old: one.old, new: one.new } : undefined;
}

const overwriting = (operation: Changing) => operation.do === "write" && operation.mode === "overwrite";

export const operationsByDialect: Readonly<Record<string, DialectOperation>> = {
  reference(operation, at) {
    const one = replacement(operation);
    if (one !== undefined) {
      const edits = [{ oldText: one.old, newText: one.new }];
      return { tool: "edit_file", args: { path: at(one.path), edits } };
    }
    if (operation.do === "write" && overwriting(operation))
      return { tool: "write_file", args: { path: at(operation.path), content: operation.content } };
    if (operation.do === "move" && !operation.overwrite)
      return { tool: "move_file", args: { source: at(operation.from), destination: at(operation.to) } };
    if (operation.do === "mkdir") return { tool: "create_directory", args: { path: at(operation.path) } };
    return undefined;
  },
  replay(operation, at) {
    if (operation.do === "delete" && !operation.recursive)
      return { tool: "delete_file", args: { path: at(operation.path) } };
    return operationsByDialect.reference?.(operation, at);
  },
  "agent-tools"(operation, at) {
    const one = replacement(operation);
    if (one !== undefined) {
      const args = { path: at(one.path), old_string: one.old, new_string: one.new };
      return { tool: "edit_file", args };
    }
    if (operation.do === "write" && overwriting(operation))
      return { tool: "write_file", args: { path: at(operation.path), content: operation.content } };
    return undefined;
  },
  "file-editor"(operation, at) {
    const one = replacement(operation);
    if (one !== undefined)
      return { tool: "search_and_replace", args: { path: at(one.path), search: one.old, replace: one.new } };
    if (operation.do === "write" && overwriting(operation)) {
      const { path, content } = operation;
      const line_count = content.split("\n").length;
      return { tool: "write_files", args: { path: at(path), content, line_count } };
    }
    return undefined;
  },
};

/**
 * Whether an answer says that the operation was done. The contract of file-editor calls a replacement a success that
 * found nothing.
 */
export function isAcknowledged({ failed, text }: Answer): boolean {
  return !failed && !/^Successfully replaced 0 occurrence/.test(text);
}
