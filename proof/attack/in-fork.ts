// The same attacks from inside a fork. What is outside of it is its base, which holds the secret; another fork of that
// base; and the directory of workspaces, with the snapshot that the fork was made from.
import { dirname, join, relative } from "node:path";
import type { Dialect } from "../../src/contract/dialect.ts";
import { Fixture } from "../../test/workspaces/fixture.ts";
import type { Trial } from "../suite.ts";
import { Arena } from "./arena.ts";
import { attackByCommands } from "./commands.ts";
import { attackEveryTool } from "./every-tool.ts";
import type { PathCase } from "./paths.ts";
import { failed, overStdio, type Target } from "./target.ts";

/** In forks by the machine's method and by hard links; the short form takes one of them at random. */
export async function attackInForks(dialect: Dialect, trial: Trial, runs: readonly string[]): Promise<void> {
  const methods = [undefined, "link"] as const;
  for (const method of trial.long ? methods : [methods[trial.chance.below(2)]]) {
    const { arena, neighbours } = await arenaInFork(method);
    await using target = await overStdio(dialect, runs, arena);
    const by = `in a fork (${method ?? "the machine's method"})`;
    await attackEveryTool(target, trial, { by, cases: neighbours, part: trial.long ? 1 : 0.2 });
    await attackEveryTool(target, trial, { by, part: trial.long ? 1 : 0.03 });
    if (runs.length > 0) await attackByCommands(target, trial, true);
    await attackByWorkspaceTool(target, trial);
  }
}

async function arenaInFork(method: "link" | undefined): Promise<{
  readonly arena: Arena;
  readonly neighbours: readonly PathCase[];
}> {
  const fixture = new Fixture(method);
  const arena = new Arena();
  const { workspaces } = fixture;
  await workspaces.adopt("main", arena.outside, "");
  const other = await workspaces.fork("other", "main", "");
  const { root, snapshot = "", tree = "" } = await workspaces.fork("attacker", "main", "");
  const { path, snapshots, trees } = workspaces.layout;
  const serves = ["--workspaces", path, "--workspace-name", "attacker"];
  const frozen = join(snapshots, snapshot, "tree");
  arena.moveTo(root, serves, [other.root, frozen], fixture);
  const places = {
    "another fork": other.root,
    "the snapshot": frozen,
    "the upper layer of another fork": join(dirname(other.root), "upper"),
  };
  const neighbours = Object.entries(places).map(
    ([story, place], i): PathCase => ({
      id: `F00${i + 1}`,
      story,
      refused: "everywhere",
      path: () => [place, `${place}/secret.txt`, `${place}/new.txt`, `${relative(root, place)}/secret.txt`],
    }),
  );
  const own: PathCase = {
    id: "F004",
    story: "the surroundings of the fork",
    refused: "everywhere",
    path: () => [path, trees, join(trees, tree), "../upper/pub.txt", "../work", "../../../store/names", ".."],
  };
  return { arena, neighbours: [...neighbours, own] };
}

/** Its base and its siblings are not a caller's to compare, merge, fork or drop. */
async function attackByWorkspaceTool(target: Target, { tally }: Trial): Promise<void> {
  if (!target.dialect.tools.some(({ name }) => name === "workspace") || !tally.wants("F005")) return;
  for (const name of ["main", "other"]) {
    for (const action of ["diff", "merge", "drop", "fork"]) {
      await tally.attempt(`F005 (${action} of a workspace above or beside) ${name}`, async () => {
        const args = action === "fork" ? { action, name: "stolen", from: name } : { action, name };
        const answer = await target.call("workspace", args);
        await target.inspect(answer);
        if (!failed(answer)) throw new Error(`was accepted: ${JSON.stringify(answer).slice(0, 300)}`);
      });
    }
  }
}
