// Extended attributes and ACLs of a file that is replaced. Node has no call for them; `cp` has, on open files that
// it is handed, so that no name is followed. Asking costs a process, so each file is asked once: copying onto
// a file in /proc, where attributes cannot be set, fails exactly where there are some.
import { spawn } from "node:child_process";
import type { CopyAttributes } from "../workspace/commit/stage.ts";

const maxKnown = 10_000;

/** A function that copies them from one open file to another; undefined where there is no way to. */
export function attributeCopier(identify: (fd: number) => string): CopyAttributes | undefined {
  if (process.platform !== "linux") return undefined;
  const without = new Set<string>();
  let missing = false; // no `cp` that knows how
  return async (from, to) => {
    const identity = identify(from);
    if (missing || without.has(identity)) {
      without.add(identify(to));
      return;
    }
    const asked = await copy(from, undefined);
    if (asked === "no program") missing = true;
    if (asked === "refused" && (await copy(from, to)) === "done") return;
    if (without.size > maxKnown) without.clear();
    without.add(identity).add(identify(to));
  };
}

function copy(from: number, to: number | undefined): Promise<"done" | "refused" | "no program"> {
  const target = to === undefined ? "/proc/self/comm" : "/proc/self/fd/4";
  const args = ["--attributes-only", "--preserve=xattr", "/proc/self/fd/3", target];
  const stdio = ["ignore", "ignore", "ignore", from, ...(to === undefined ? [] : [to])] as const;
  return new Promise(resolve => {
    const child = spawn("cp", args, { stdio: [...stdio], env: { PATH: process.env.PATH, LC_ALL: "C" } });
    child.once("error", () => resolve("no program"));
    child.once("close", code => resolve(code === 0 ? "done" : "refused"));
  });
}
