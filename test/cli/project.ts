// A project with a file and a state directory beside it, and the program as it is called from a shell in it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ending, polyfs, tree } from "./program.ts";

export interface Project {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  path(name: string): string;
  run(...args: string[]): Ending;
  /** With these lines on stdin. */
  answer(input: string, ...args: string[]): Ending;
  /** `polyfs call` in the dialect polyfs. */
  call(tool: string, params: object): Ending;
}

export function project(): Project {
  const base = tree("project", "state");
  const root = join(base, "project");
  writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
  const env = { POLYFS_STATE_DIR: join(base, "state"), POLYFS_DIALECT: "polyfs" };
  const run = (...args: string[]) => polyfs(args, { cwd: root, env });
  return {
    root,
    env,
    path: name => join(root, name),
    run,
    answer: (input, ...args) => polyfs(args, { cwd: root, env, input }),
    call: (tool, params) => run("call", tool, JSON.stringify(params)),
  };
}
