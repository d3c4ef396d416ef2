// Real commits of this repository, replayed: some hunks of each are undone, as the diff shows them, while other
// lines may have changed since. The bytes must be exactly those expected, or the conflict must be named.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine } from "../../src/engine/engine.ts";
import { Fault } from "../../src/engine/fault.ts";
import { changeNamed } from "../../src/engine/history/changes.ts";
import { hunkContext } from "../../src/engine/history/hunks.ts";
import { undoHunks } from "../../src/engine/history/undo-hunks.ts";
import { unifiedDiff } from "../../src/engine/text/diff.ts";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";

export async function hunks(trial: Trial): Promise<void> {
  const commits = git("log", "--no-merges", "--format=%H", "-n", trial.long ? "400" : "25")
    .split("\n")
    .filter(Boolean);
  if (commits.length < 2) {
    trial.tally.skipped("hunks", "no history of this repository here");
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), "polyfs-hunks-"));
  const root = join(folder, "root");
  spawnSync("mkdir", [root]);
  using engine = openEngine({ roots: [{ path: root, access: "read-write" }], state: join(folder, "state") });
  const { workspace } = engine;
  const path = workspace.at(join(root, "file.txt"));
  let conflicts = 0;
  for (const commit of commits) {
    for (const name of git("diff", "--name-only", "--diff-filter=M", `${commit}~1`, commit)
      .split("\n")
      .filter(Boolean)) {
      const [before, after] = [git("show", `${commit}~1:${name}`), git("show", `${commit}:${name}`)];
      const shown = hunksIn(unifiedDiff(before, after, { context: hunkContext }));
      if (shown.length < 2 || after.length > 200_000) continue;
      const chosen = shown.map((_, i) => i + 1).filter(() => trial.chance.next() < 0.5);
      if (chosen.length === 0) continue;
      await trial.tally.attempt(`hunks ${commit.slice(0, 8)} ${name}`, async () => {
        writeFileSync(join(root, "file.txt"), before);
        const made = await workspace.commit([{ kind: "write", path, bytes: Buffer.from(after) }]);
        const record = await changeNamed(workspace, made.id);
        // Another caller adds a line at the top or at the end, or none.
        const [head, tail] = [
          trial.chance.next() < 0.3 ? "above\n" : "",
          trial.chance.next() < 0.3 && after.endsWith("\n") ? "below\n" : "",
        ];
        if (head + tail !== "") writeFileSync(join(root, "file.txt"), head + after + tail);
        const expected =
          head +
          without(
            after,
            shown.filter((_, i) => chosen.includes(i + 1)),
          ) +
          tail;
        try {
          await undoHunks(workspace, [record], chosen, {});
        } catch (error) {
          if (!Fault.is(error, "stale")) throw error;
          if (head + tail === "") throw new Error("a conflict, and nothing else has changed");
          conflicts++;
          return;
        }
        if (readFileSync(join(root, "file.txt"), "utf8") !== expected)
          throw new Error("other bytes than expected");
      });
    }
  }
  trial.say(`hunks: ${conflicts} conflicts with lines that were added next to a hunk`);
  rmSync(folder, { recursive: true, force: true });
}

interface Hunk {
  readonly line: number;
  readonly old: readonly string[];
  readonly made: readonly string[];
}

/** The hunks as a reader of the diff sees them: lines of the new file, and the old lines. */
function hunksIn(diff: string): Hunk[] {
  return diff
    .split(/^(?=@@ )/m)
    .filter(part => part.startsWith("@@"))
    .map(part => {
      const [, start = "0", count] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(part) ?? [];
      const lines = part.replace(/^.*\n/, "").split(/(?<=\n)/);
      const side = (sign: string) =>
        lines.flatMap((line, i) => {
          if (line[0] !== sign && line[0] !== " ") return [];
          const open = lines[i + 1]?.startsWith("\\") ?? false;
          return [open ? line.slice(1, -1) : line.slice(1)];
        });
      return { line: Number(start) - (count === "0" ? 0 : 1), old: side("-"), made: side("+") };
    });
}

function without(after: string, hunks: readonly Hunk[]): string {
  const lines = after.split(/(?<=\n)/);
  for (const { line, old, made } of hunks.toReversed()) {
    if (lines.slice(line, line + made.length).join("") !== made.join(""))
      throw new Error("the diff does not fit");
    lines.splice(line, made.length, ...old);
  }
  return lines.join("");
}

function git(...args: string[]): string {
  const { stdout } = spawnSync("git", args, {
    cwd: repository,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout ?? "";
}
