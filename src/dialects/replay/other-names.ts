// The contract's sentence says that a file was written. A second item says what happened to its hard links.
import { type Reply, text } from "../../contract/tool.ts";
import type { Commit } from "../../engine/workspace/commit/change.ts";

export function written(
  sentence: string,
  { files }: Commit,
  { hardLinks }: { readonly hardLinks: string },
): Reply {
  const reply = text(sentence);
  const names = files.reduce((sum, file) => sum + (file.effect === "modified" ? file.otherNames : 0), 0);
  if (names === 0) return reply;
  const fate = hardLinks === "keep" ? "changed with it" : "not changed";
  const note = `[other hard links to the file, ${fate}: ${names}]`;
  return { content: [...reply.content, ...text(note).content] };
}
