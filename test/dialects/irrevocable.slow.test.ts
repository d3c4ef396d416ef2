// No tool of any dialect removes or replaces what undo could not bring back, unless the server was started for it.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, truncateSync } from "node:fs";
import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProcessWire } from "../mcp/wire.ts";
import { ServedTree } from "./served-tree.ts";

/** Permissions do not bind root, so the server runs as another user. */
const user = process.getuid?.() === 0 ? 65534 : undefined;

/** Puts something into the directory `at` that no archive can keep, as `x` where it is a single entry. */
const losses: Record<string, { put(tree: ServedTree, at: string): void | Promise<void>; says: RegExp }> = {
  "a FIFO": { put: (tree, at) => void execFileSync("mkfifo", [tree.path(`${at}/x`)]), says: /x is a fifo/ },
  "a socket": {
    // The server is left open: closing it would remove the socket.
    put: (tree, at) =>
      new Promise(
        resolve =>
          void createServer()
            .listen(tree.path(`${at}/x`), resolve)
            .unref(),
      ),
    says: /x is a socket/,
  },
  "an unreadable file": {
    put(tree, at) {
      tree.write(`${at}/x`, "x\n");
      chmodSync(tree.path(`${at}/x`), 0);
    },
    says: /x cannot be read/,
  },
  "a large file": {
    put(tree, at) {
      tree.write(`${at}/x`, "");
      truncateSync(tree.path(`${at}/x`), 65 * 1024 * 1024);
    },
    says: /x has 65 MB, more than undo keeps/,
  },
};
const treeLosses: typeof losses = {
  ...losses,
  "an unreadable directory": {
    put(tree, at) {
      tree.write(`${at}/x/y`, "y\n");
      chmodSync(tree.path(`${at}/x`), 0);
    },
    says: /x cannot be read/,
  },
  "files that are too large together": {
    put(tree, at) {
      for (let i = 0; i < 9; i++) {
        tree.write(`${at}/x${i}`, "");
        truncateSync(tree.path(`${at}/x${i}`), 60 * 1024 * 1024);
      }
    },
    says: /540 MB, more than undo keeps/,
  },
  "a path that is too long": {
    put(tree, at) {
      const half = Array(12).fill("n".repeat(200)).join("/");
      mkdirSync(tree.path(`half/${half}`), { recursive: true });
      mkdirSync(tree.path(`${at}/${half}`), { recursive: true });
      renameSync(tree.path("half"), tree.path(`${at}/${half}/half`));
    },
    says: /a path is too long/,
  },
};

type Call = (tree: ServedTree, path: string) => readonly [string, Record<string, unknown>];
const removals: Record<string, Call> = {
  polyfs: (_, path) => ["delete_path", { path, recursive: true }],
  replay: (tree, path) => ["delete_file", { path: tree.path(path) }],
};
const replacements: Record<string, Call> = {
  polyfs: (_, to) => ["move_path", { from: "small", to, overwrite: true }],
};

const args: Record<string, (root: string) => string[]> = {
  // Its own rules would have to look into every directory.
  polyfs: root => ["--policy", "none", root],
  replay: root => ["--allow-write", root],
};

for (const dialect of ["polyfs", "replay"])
  describe(dialect, () => {
    const tree = new ServedTree(dialect);
    let server: ProcessWire;
    const serve = async (...more: string[]) => {
      const named = args[dialect]?.(tree.root) ?? [];
      const wire = await tree.start({ roots: [], args: [...more, ...named], env: { HOME: tree.base }, user });
      await wire.initialize();
      return wire;
    };
    beforeAll(async () => {
      if (user !== undefined) execFileSync("chown", ["-R", `${user}:${user}`, tree.base]);
      server = await serve();
    });
    afterAll(async () => {
      execFileSync("chmod", ["-R", "u+rwX", tree.root]);
      await tree[Symbol.asyncDispose]();
    });

    const lay = async (put: (tree: ServedTree, at: string) => void | Promise<void>) => {
      execFileSync("chmod", ["-R", "u+rwX", tree.root]);
      execFileSync("rm", ["-rf", tree.path("d"), tree.path("half")]);
      tree.write("d/a", "a\n");
      tree.write("d/in/b", "b\n");
      tree.write("small", "small\n");
      await put(tree, "d/in");
      if (user !== undefined) execFileSync("chown", ["-R", `${user}:${user}`, tree.root]);
    };
    // Only root sees into an unreadable directory; for others `find` fails there and lists the rest.
    const all = () =>
      spawnSync("find", [tree.root, "-printf", "%p %i %s %m\\n"], { encoding: "utf8" }).stdout;
    const refused = async (call: readonly [string, unknown]) => {
      const { error, result } = await server.request("tools/call", { name: call[0], arguments: call[1] });
      expect(error !== undefined || result?.isError).toBe(true);
      return JSON.stringify(error ?? result);
    };

    const removal = removals[dialect];
    if (removal !== undefined)
      for (const [name, { put, says }] of Object.entries(treeLosses))
        it(`does not delete a tree with ${name}, and touches nothing`, async () => {
          await lay(put);
          const before = all();
          const said = await refused(removal(tree, "d"));
          expect(said).toMatch(says);
          expect(said).toContain("--allow-irrevocable");
          expect(all()).toBe(before);
        });

    const replacement = replacements[dialect];
    if (replacement !== undefined)
      for (const [name, { put, says }] of Object.entries(losses))
        it(`does not move a file over ${name}`, async () => {
          await lay(put);
          const before = all();
          expect(await refused(replacement(tree, "d/in/x"))).toMatch(says);
          expect(all()).toBe(before);
        });

    it("deletes them where the server was started for it", async () => {
      const permissive = await serve("--allow-irrevocable");
      for (const name of ["a FIFO", "a socket", "an unreadable file", "a large file"]) {
        await lay(losses[name]?.put ?? (() => {}));
        const [tool, params] = removal?.(tree, "d") ?? ["", {}];
        const answer = await permissive.call(tool, params);
        if (dialect === "polyfs") expect(JSON.stringify(answer)).toContain("cannot be undone");
        expect(tree.has("d")).toBe(false);
      }
    });
  });
