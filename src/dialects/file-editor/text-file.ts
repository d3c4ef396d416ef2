// What counts as text, and a text file's way through an edit back to the disk.
import { Fault } from "../../engine/fault.ts";
import { detect, isBinary } from "../../engine/text/detect.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import type { Commit, CommitOptions } from "../../engine/workspace/commit/change.ts";
import type { Workspace } from "../../engine/workspace/workspace.ts";
import type { WorkspaceCall } from "./workspace-tool.ts";

/** How far to look for a NUL. */
export const sample = 8000;

/** Decodes a file's bytes in its own encoding. */
export async function textOf(path: string, bytes: Buffer): Promise<Text> {
  const binary = isBinary(bytes, { first: sample }) && !detect(bytes).encoding.startsWith("utf-16");
  if (binary) throw new Fault("binary", { path });
  return decode(path, bytes, { legacy: true });
}

/**
 * Changes a file: `change` returns the new text, or the same one if nothing changes, and data for the answer. It may
 * be called again if the file changes in between.
 */
export async function editText<R extends { readonly text: Text }>(
  action: string,
  path: string,
  workspace: Workspace,
  call: WorkspaceCall,
  change: (text: Text) => Promise<R>,
): Promise<R & { readonly note: string }> {
  const at = workspace.at(path);
  const results: R[] = [];
  const commit = await workspace.edit(
    at,
    async bytes => {
      const text = await textOf(path, bytes);
      const result = await change(text);
      results.push(result);
      return result.text === text ? undefined : result.text.bytes;
    },
    { ...writing(action, call), maxBytes: call.settings.maxFileBytes },
  );
  const result = results.at(-1);
  if (result === undefined) throw new Fault("not_found", { path });
  return { ...result, note: otherNames(commit, call) };
}

export function writing(action: string, { settings, session, signal }: WorkspaceCall): CommitOptions {
  return {
    by: { action, client: session.client, connection: session.connection },
    hardLinks: settings.hardLinks,
    signal,
  };
}

/** A sentence about hard links of the files; "" if there are none. */
export function otherNames({ files }: Commit, { settings }: WorkspaceCall): string {
  const names = files.reduce((sum, file) => sum + (file.effect === "modified" ? file.otherNames : 0), 0);
  if (names === 0) return "";
  return settings.hardLinks === "keep"
    ? `\nNote: other hard links to the same file changed with it (${names}).`
    : `\nNote: other hard links to the old file keep the old content (${names}).`;
}
