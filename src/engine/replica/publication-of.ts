// What a command did, as a publication. A file that has changed once more is published as it is now.
import type { By } from "../workspace/archive/log.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import type { LocalCopy } from "./local-copy.ts";

export function publicationOf(copy: LocalCopy, by: By, operations: readonly Operation[]): Publication {
  const { archive } = copy.workspace;
  const contents = new Map<string, Uint8Array>();
  const current = operations.flatMap((operation): Operation[] => {
    if (operation.do !== "write") return [operation];
    const bytes = copy.read(operation.at);
    if (bytes === undefined) return [];
    const hash = archive.objects.put(bytes);
    contents.set(hash, bytes);
    return [{ ...operation, hash, size: bytes.length }];
  });
  return { id: archive.changes.newId(), by, operations: current, contents };
}
