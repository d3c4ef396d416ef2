// A symlink that is swapped at the right moment leads nowhere: an attacker process flips a directory and a link to
// outside under one name while the server reads, lists and searches through that name.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { start } from "../mcp/wire.ts";
import { arena } from "./arena.ts";

const seconds = Number(process.env.POLYFS_SWAP_SECONDS ?? 20);

it(
  `nothing leaks in ${seconds} s of swapping`,
  async () => {
    using ground = arena();
    mkdirSync(join(ground.root, "flip"));
    writeFileSync(join(ground.root, "flip", "secret.txt"), "PUBLIC\n");
    writeFileSync(join(ground.outside, "only-outside.txt"), ground.secret);
    const script = join(import.meta.dirname, "attacker.mjs");
    const attacker = spawn(process.execPath, [script, ground.root, ground.outside, String(seconds * 1000)]);
    const swaps = new Promise<number>(resolve => {
      let said = "";
      attacker.stdout.on("data", chunk => {
        said += chunk;
      });
      attacker.once("close", () => resolve(Number(said)));
    });

    await using wire = await start({ dialect: "fs", roots: [ground.root] });
    const calls = [
      ["read_file", { path: "flip/secret.txt" }],
      ["read_file", { path: "flip/secret.txt", start_line: 1 }],
      ["list_files", { root: "flip" }],
      ["list_files", { root: "." }],
      ["search_text", { query: "SECRET-", root: "flip" }],
      ["search_text", { query: "SECRET-" }],
    ] as const;
    let done = false;
    void swaps.then(() => {
      done = true;
    });
    const counts = { answered: 0, refused: 0 };
    while (!done) {
      for (const [name, args] of calls) {
        const answers = await Promise.all(
          [1, 2, 3].map(() => wire.request("tools/call", { name, arguments: args })),
        );
        for (const answer of answers) {
          const said = JSON.stringify(answer);
          expect(said).not.toContain(ground.secret);
          expect(said).not.toContain("only-outside");
          counts[answer.error === undefined ? "answered" : "refused"]++;
        }
      }
    }
    expect(await swaps, "the attacker did swap").toBeGreaterThan(1000);
    expect(counts.answered, "some calls met the directory").toBeGreaterThan(10);
    expect(counts.refused, "some calls met the link").toBeGreaterThan(0);
  },
  (seconds + 40) * 1000,
);
