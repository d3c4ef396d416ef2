// Links are never followed, also not one that takes a directory's place while it is read, listed or searched.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { arena } from "../../confinement/arena.ts";
import { start } from "../../mcp/wire.ts";

const seconds = Number(process.env.POLYFS_SWAP_SECONDS ?? 5);

it(
  `nothing leaks in ${seconds} s of swapping`,
  async () => {
    using ground = arena();
    const flip = join(ground.root, "flip");
    mkdirSync(flip);
    writeFileSync(join(flip, "secret.txt"), "PUBLIC\n");
    writeFileSync(join(ground.outside, "only-outside.txt"), ground.secret);
    const script = join(import.meta.dirname, "../../confinement/attacker.mjs");
    const attacker = spawn(process.execPath, [script, ground.root, ground.outside, String(seconds * 1000)]);
    let attacking = true;
    attacker.once("close", () => {
      attacking = false;
    });
    attacker.stdout.resume();

    await using wire = await start({ dialect: "fs-context", roots: [ground.root] });
    await wire.initialize();
    const path = join(flip, "secret.txt");
    const calls: [string, object][] = [
      ["read_file", { path }],
      ["read_file", { path, tail: 1 }],
      ["read_multiple_files", { paths: [path, path] }],
      ["get_file_info", { path }],
      ["get_multiple_file_info", { paths: [path] }],
      ["list_directory", { path: ground.root, recursive: true }],
      ["list_directory", { path: flip }],
      ["search_files", { path: ground.root, pattern: "**/*" }],
      ["search_content", { path: ground.root, pattern: "SECRET-" }],
      ["search_content", { path: flip, pattern: "(?=SECRET-)" }],
    ];
    const counts = { answered: 0, refused: 0 };
    while (attacking) {
      for (const [name, args] of calls) {
        for (const answer of await Promise.all([1, 2].map(() => wire.call(name, args)))) {
          const said = JSON.stringify(answer).replaceAll(/"pattern":"[^"]*"/g, "");
          expect(said).not.toContain(ground.secret);
          expect(said).not.toContain("only-outside");
          counts[answer.isError === true ? "refused" : "answered"]++;
        }
      }
    }
    expect(counts.answered, "some calls met the directory").toBeGreaterThan(10);
    expect(counts.refused, "some calls met the link").toBeGreaterThan(0);
  },
  (seconds + 40) * 1000,
);
