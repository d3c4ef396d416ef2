// Ordinary work that must still succeed, so that refusing everything does not pass. Long names can be written, links
// inside are followed, a search skips unreadable files, and one slow file does not block the others.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Trial } from "../suite.ts";
import { sample } from "./sample.ts";
import { failed, type Target } from "./target.ts";

export async function workAmongAttacks(target: Target, { tally }: Trial): Promise<void> {
  const { dialect, arena, spelling } = target;
  const at = (name: string) => (dialect.name === "fs" ? name : join(arena.root, name));
  const told = async (name: string, args: unknown) => {
    const answer = await target.call(name, args);
    if (failed(answer)) throw new Error(JSON.stringify(answer).slice(0, 300));
    return JSON.stringify(answer);
  };
  const readers = dialect.tools.filter(({ name }) => /^read_(text_)?files?$/.test(name));
  for (const { name } of readers) {
    const what = `${dialect.name} ${name}`;
    if (tally.wants("A067"))
      await tally.attempt(`A067 (a link inside) ${what}`, async () => {
        if (!(await told(name, { path: at("inner-link") })).includes("PUBLIC")) throw new Error("not read");
      });
    if (tally.wants("A086"))
      await tally.attempt(`A086 (eight FIFOs at once) ${what}`, async () => {
        const stuck = Array.from({ length: 8 }, () => target.call(name, { path: at("fifo") }));
        if (!(await told(name, { path: at("pub.txt") })).includes("PUBLIC")) throw new Error("not read");
        await Promise.all(stuck);
      });
    if (tally.wants("A157"))
      await tally.attempt(`A157 (composed and decomposed letters) ${what}`, async () => {
        writeFileSync(join(arena.root, "cafe\u0301"), "DECOMPOSED\n");
        writeFileSync(join(arena.root, "caf\u00e9"), "COMPOSED\n");
        const [composed, decomposed] = [
          await told(name, { path: at("caf\u00e9") }),
          await told(name, { path: at("cafe\u0301") }),
        ];
        arena.renew();
        if (
          !composed.includes("COMPOSED") ||
          composed.includes("DECOMPOSED") ||
          !decomposed.includes("DECOMPOSED")
        )
          throw new Error("a wrong file was read");
      });
  }
  for (const tool of dialect.tools.filter(({ name }) => /^write_files?$/.test(name))) {
    if (!tally.wants("A025")) break;
    const name = "n".repeat(250);
    await tally.attempt(`A025 (a name of 250 bytes) ${dialect.name} ${tool.name}`, async () => {
      await told(tool.name, sample(tool, spelling, { path: at(name) }));
      if (!readFileSync(join(arena.root, name), "utf8").startsWith("CHANGED")) throw new Error("not written");
      arena.renew();
    });
  }
  for (const tool of dialect.tools.filter(({ name }) =>
    /^(grep|search)_?(text|content|files)?$|^grep_files$/.test(name),
  )) {
    if (!tally.wants("A085") || (dialect.name === "replay" && tool.name === "search_files")) continue;
    await tally.attempt(`A085 (a search passes by) ${dialect.name} ${tool.name}`, async () => {
      const where = "directory" in tool.input.properties ? { directory: spelling.directory } : {};
      const args = sample(tool, spelling, where);
      for (const name of ["pattern", "query", "regex"])
        if (name in args && args[name] === "SECRET") args[name] = "PUBLIC";
      if (!(await told(tool.name, args)).includes("pub.txt")) throw new Error("not found");
    });
  }
  if (existsSync(join(arena.outside, "STARTED")))
    tally.failed(`A123 ${dialect.name}`, "a program was started");
}
