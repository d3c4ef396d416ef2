// Things are moved while the server holds them: the root gives its name to another directory, a directory leaves the
// root during a write, a temporary file becomes a link. The server works in the granted directory, or fails.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Dialect } from "../../src/contract/dialect.ts";
import { isTemporaryName } from "../../src/engine/workspace/disk/temporary.ts";
import type { Trial } from "../suite.ts";
import { sample } from "./sample.ts";
import { overStdio } from "./target.ts";

export async function attackByDisplacing(dialect: Dialect, { tally, long }: Trial): Promise<void> {
  if (tally.wants("A110")) await replaceTheRoot(dialect, tally);
  const writer = dialect.tools.find(({ name }) => /^write_files?$/.test(name));
  if (writer === undefined) return;
  const rounds = long ? 200 : 10;
  if (tally.wants("A152"))
    await tally.attempt(`A152 (a temporary file becomes a link) ${dialect.name} ${writer.name}`, async () => {
      await using target = await overStdio(dialect);
      const { root, outside } = target.arena;
      using _ = planting(root, join(outside, "secret.txt"));
      for (let round = 0; round < rounds; round++) {
        const content = `${round}\n`.repeat(200_000);
        target.observe(await target.call(writer.name, { ...sample(writer, target.spelling), content }));
        // The links are the attacker's; the server need not remove them.
        for (const name of readdirSync(root).filter(isTemporaryName))
          rmSync(join(root, name), { force: true });
        await target.inspect(await target.request("ping"));
      }
    });
  if (tally.wants("A153"))
    await tally.attempt(
      `A153 (a directory leaves during a write) ${dialect.name} ${writer.name}`,
      async () => {
        await using target = await overStdio(dialect);
        const { root, base } = target.arena;
        const [inside, elsewhere] = [join(root, "sub"), join(base, "elsewhere")];
        for (let round = 0; round < rounds; round++) {
          const args = {
            ...sample(writer, target.spelling, { path: `${inside}/f` }),
            content: "x\n".repeat(500_000),
          };
          const writing = target.call(writer.name, args);
          renameSync(inside, elsewhere);
          await writing;
          const strange = readdirSync(elsewhere).filter(
            name => !["f", "inner.txt"].includes(name) && !isTemporaryName(name),
          );
          rmSync(elsewhere, { recursive: true });
          await target.inspect(await target.request("ping"));
          if (strange.length > 0) throw new Error(`found elsewhere: ${strange.join(", ")}`);
        }
      },
    );
}

async function replaceTheRoot(dialect: Dialect, tally: Trial["tally"]): Promise<void> {
  await using target = await overStdio(dialect);
  const { root, base, secret } = target.arena;
  renameSync(root, join(base, "old-root"));
  mkdirSync(root);
  writeFileSync(join(root, "pub.txt"), `${secret}\n`);
  for (const tool of dialect.tools.filter(({ name }) => name !== "set_workspace")) {
    await tally.attempt(
      `A110 (another directory has the root's name) ${dialect.name} ${tool.name}`,
      async () => {
        target.observe(await target.call(tool.name, sample(tool, target.spelling)));
        const kept =
          existsSync(join(root, "pub.txt")) && readFileSync(join(root, "pub.txt"), "utf8") === `${secret}\n`;
        if (!kept || readdirSync(root).length !== 1) throw new Error("the other directory was changed");
      },
    );
  }
}

/** Puts a link in the place of each temporary file as soon as it is seen. */
function planting(directory: string, target: string): Disposable {
  const watcher = watch(directory, (_, name) => {
    if (name === null || !isTemporaryName(name)) return;
    try {
      // The link itself is noticed, too: replacing it again would never end.
      if (lstatSync(join(directory, name)).isSymbolicLink()) return;
      rmSync(join(directory, name));
      symlinkSync(target, join(directory, name));
    } catch {} // it was gone already
  });
  return { [Symbol.dispose]: () => watcher.close() };
}
