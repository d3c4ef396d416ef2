// What a command did, as a publication. A file that has changed once more is published as it is now. And what is left
// to publish of a commit that was published before it had to start over.
import type { By } from "../workspace/archive/log.ts";
import type { Operation, Publication } from "../workspace/commit/publish.ts";
import { stateDirectory, system } from "../workspace/errno.ts";
import type { LocalCopy } from "./local-copy.ts";

export function publicationOf(
  copy: LocalCopy,
  id: string,
  by: By,
  operations: readonly Operation[],
): Publication {
  const { archive } = copy.workspace;
  const contents = new Map<string, Uint8Array>();
  const current = operations.flatMap((operation): Operation[] => {
    if (operation.do !== "write") return [operation];
    const bytes = copy.files.read(operation.at);
    if (bytes === undefined) return [];
    const hash = system(stateDirectory, () => archive.objects.put(bytes));
    contents.set(hash, bytes);
    return [{ ...operation, hash, size: bytes.length }];
  });
  return { id, by, operations: current, contents };
}

/** What the log does not say yet, path by path. */
export function without(publication: Publication, published: readonly Publication[]): Publication {
  const known = new Map(published.flatMap(one => [...byPath(one)]));
  const wanted = byPath(publication);
  const operations = publication.operations.filter(({ at }) => known.get(at) !== wanted.get(at));
  return { ...publication, operations };
}

function byPath({ operations }: Publication): Map<string, string> {
  const found = new Map<string, string>();
  for (const one of operations) found.set(one.at, `${found.get(one.at) ?? ""}${JSON.stringify(one)}`);
  return found;
}
