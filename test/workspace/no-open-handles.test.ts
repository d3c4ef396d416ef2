// Resolving a path closes every handle that it does not return, whether the path is found or refused.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Policy } from "../../src/engine/policy/policy.ts";
import {
  resolveEntry,
  resolveExisting,
  resolveNearest,
  resolvePath,
  resolveStored,
} from "../../src/engine/workspace/resolve.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { hasProc } from "../setup/proc.ts";

const paths = [
  "a.txt",
  "sub/deep/b.txt",
  "sub/deep/c/d/e/f",
  "a.txt/below",
  "missing",
  "sub/missing/further",
  "link/b.txt",
  "link/missing",
  "up/a.txt",
  "out",
  "out/secret.txt",
  "out/missing",
  "loop",
  "loop/x",
  "dangling",
  "dangling/x",
  "sub/../link/../deep/b.txt",
  "denied/key",
  "denied/missing",
  "to-denied/key",
  "caf\u00e9/x",
  "cafe\u0301/x",
  "cafe\u0301/missing",
];

it.runIf(hasProc)("no handle stays open, whether a path is found or refused", () => {
  const base = mkdtempSync(join(tmpdir(), "polyfs-handles-"));
  try {
    for (const directory of ["root/sub/deep/c/d/e", "root/denied", "root/caf\u00e9", "outside"])
      mkdirSync(join(base, directory), { recursive: true });
    for (const file of [
      "root/a.txt",
      "root/sub/deep/b.txt",
      "root/denied/key",
      "root/caf\u00e9/x",
      "outside/secret.txt",
    ])
      writeFileSync(join(base, file), "text\n");
    for (const [target, name] of [
      ["sub/deep", "link"],
      ["..", "sub/up"],
      [".", "up"],
      [join(base, "outside"), "out"],
      ["loop", "loop"],
      ["nowhere", "dangling"],
      ["denied", "to-denied"],
    ] as const)
      symlinkSync(target, join(base, "root", name));
    const policies = [new Policy([{ paths: ["denied"], access: "deny" }])];
    using workspace = Workspace.open([{ path: join(base, "root"), access: "read-write" }], {
      state: join(base, "state"),
      rules: { current: () => policies },
    });
    const { roots } = workspace;
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    let found = 0;
    let refused = 0;
    for (const path of paths)
      for (const resolve of [resolvePath, resolveStored, resolveNearest, resolveExisting, resolveEntry]) {
        try {
          const reached = resolve(roots, workspace.at(path));
          found++;
          ("resolved" in reached ? reached.resolved : reached).handle.close();
        } catch {
          refused++;
        }
        expect(open(), `${resolve.name} ${path}`).toBe(before);
      }
    expect(found).toBeGreaterThan(30);
    expect(refused).toBeGreaterThan(30);
  } finally {
    rmSync(base, { recursive: true });
  }
});
