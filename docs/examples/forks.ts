// A fork to try something in: the project stays as it is until the fork is merged, and the merge is one change that can
// be undone.
import { call, collectDropped, dialects, openEngine, openWorkspaces, outcomeText } from "polyfs";

export async function tryInFork(project: string, forks: string): Promise<string[]> {
  await using workspaces = openWorkspaces({ directory: forks });
  await workspaces.adopt("main", project, "me");
  const fork = await workspaces.fork("try", "main", "me");
  const engine = openEngine({ roots: [{ path: fork.root, access: "read-write" }], workspaces });
  try {
    const dialect = await dialects.polyfs();
    const outcome = await call(dialect, "write_file", { path: "new.txt", content: "new\n" }, { engine });
    const difference = await workspaces.diff(fork, engine.workspace);
    await workspaces.merge(fork, engine.workspace);
    return [outcomeText(outcome), ...difference.map(({ path, effect }) => `${effect} ${path}`)];
  } finally {
    engine[Symbol.dispose]();
    await workspaces.drop(fork);
    await collectDropped(workspaces, 0);
  }
}
