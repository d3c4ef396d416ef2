// The minimal server in bench/floor: its tools are the jobs themselves.
import { join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import type { Adapter } from "../adapter.ts";
import { type Calls, call, type JobKind, type Jobs } from "../jobs.ts";
import { repository } from "../places.ts";

const kinds = [
  "read",
  "readMany",
  "lines",
  "tail",
  "list",
  "tree",
  "glob",
  "search",
  "write",
  "edit",
  "patch",
] as const;

function same<K extends JobKind>(kind: K) {
  return (what: Jobs[K]) => call(kind, { ...what });
}

export const floor: Adapter = {
  name: "node floor",
  family: "floor",
  calls: Object.fromEntries(kinds.map(kind => [kind, same(kind)])) as Calls,
  command: async () => ({
    command: process.execPath,
    args: [join(repository, "bench/floor/server.mjs")],
    env: { BENCH_RIPGREP: rgPath },
  }),
};
