// A store that is exported and imported again: a replica of the copy holds the same bytes, whatever their names.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openReplica } from "../../src/engine/replica/open-replica.ts";
import { copyStore } from "../../src/engine/store/copy-store.ts";
import { DirectoryStore } from "../../src/engine/store/directory/directory-store.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

/** Names of bytes: most are not UTF-8. */
const name = fc
  .uint8Array({ minLength: 1, maxLength: 20 })
  .map(bytes => Buffer.from(bytes.map(byte => (byte === 0 || byte === 47 ? 95 : byte))))
  .filter(bytes => !/^\.{1,2}$/.test(bytes.toString("latin1")));
const node = fc.oneof(
  fc.record({
    kind: fc.constant("file" as const),
    content: fc.uint8Array({ maxLength: 200 }),
    mode: fc.constantFrom(0o600, 0o644, 0o755, 0o400, 0o664),
  }),
  fc.record({ kind: fc.constant("directory" as const), mode: fc.constantFrom(0o700, 0o755, 0o775) }),
  fc.record({
    kind: fc.constant("link" as const),
    target: fc.constantFrom("..", "/etc/passwd", "gone", "a b"),
  }),
);
const tree = fc.uniqueArray(fc.tuple(fc.integer({ min: 0, max: 3 }), name, node), {
  maxLength: 15,
  selector: ([parent, bytes]) => `${parent}/${bytes.toString("hex")}`,
});

/** Everything below a directory as tar sees it: names, types, modes, targets and contents. */
function packed(root: string): string {
  const args = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--format=gnu", "-cf", "-", "."];
  return execFileSync("tar", args, { cwd: root }).toString("latin1");
}

async function replicaOf(base: string, root: string, store: DirectoryStore): Promise<void> {
  const state = join(base, `state-${root}`);
  for (const [path, mode] of [
    [join(base, root), 0o755],
    [state, 0o700],
  ] as const)
    mkdirSync(path, { recursive: true, mode });
  using workspace = Workspace.open([{ path: join(base, root), access: "read-write" }], { state });
  await using _ = await openReplica({ store, name: "w", workspace });
  await workspace.settled();
}

describe("an export and an import", () => {
  it("restore every byte, mode, link and empty directory", async () => {
    await fc.assert(
      fc.asyncProperty(tree, async entries => {
        const base = mkdtempSync(join(tmpdir(), "polyfs-export-"));
        try {
          const root = join(base, "a");
          const folders = ["", "one", "two", "two/three"].map(one => join(root, one));
          for (const folder of folders) mkdirSync(folder, { recursive: true });
          for (const [parent, bytes, made] of entries) {
            const path = Buffer.concat([Buffer.from(`${folders[parent]}/`), bytes]);
            if (made.kind === "link") symlinkSync(made.target, path);
            else if (made.kind === "directory") mkdirSync(path);
            else writeFileSync(path, made.content);
            if (made.kind !== "link") chmodSync(path, made.mode);
          }
          const stores = ["s1", "s2", "s3"].map(one => new DirectoryStore(join(base, one)));
          const [first, middle, last] = stores as [DirectoryStore, DirectoryStore, DirectoryStore];
          await replicaOf(base, "a", first);
          await copyStore(first, middle);
          await copyStore(middle, last);
          await replicaOf(base, "b", last);
          expect(packed(join(base, "b"))).toBe(packed(root));
        } finally {
          rmSync(base, { recursive: true, force: true });
        }
      }),
      { numRuns: 15 },
    );
  });
});
