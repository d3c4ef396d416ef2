// Extended attributes and ACLs of files that are replaced. Node has no call for them; `cp` has, on open files that
// it is handed, so that no name is followed. Asking costs a process, so all files of a commit are asked about in
// one, and each only once: copying onto a file in /proc, where attributes cannot be set, fails exactly where there
// are some.
import { spawn } from "node:child_process";
import type { CopyAttributes } from "../workspace/commit/stage.ts";

const firstDescriptor = 3; // of the files that the child is handed
const mostAtOnce = 200;
const mostKnown = 10_000;

/** What only the disk can tell. */
export interface AttributeDisk {
  /** Which file an open one is, whatever its name. */
  identify(fd: number): string;
  /** A directory of links `from`…`to` that all lead to `target`. */
  links(from: number, to: number, target: string): string;
}

/** Copies them from one open file to another; undefined where there is no way to. */
export function attributeCopier({ identify, links }: AttributeDisk): CopyAttributes | undefined {
  if (process.platform !== "linux") return undefined;
  const without = new Set<string>();
  let farm: string | undefined;
  const ask = async (files: readonly number[]): Promise<void> => {
    const unknown = files.filter(fd => !without.has(identify(fd)));
    for (let at = 0; at < unknown.length; at += mostAtOnce) {
      farm ??= links(firstDescriptor, firstDescriptor + mostAtOnce - 1, "/proc/self/comm");
      const some = unknown.slice(at, at + mostAtOnce);
      const refused = await copy(some, [], farm);
      if (without.size > mostKnown) without.clear();
      for (const [i, fd] of some.entries()) if (!refused.has(firstDescriptor + i)) without.add(identify(fd));
    }
  };
  const copyOne = async (from: number, to: number): Promise<void> => {
    await ask([from]);
    if (without.has(identify(from))) without.add(identify(to));
    else await copy([from], [to], undefined);
  };
  return Object.assign(copyOne, { ask });
}

/** Runs `cp` from each file to the next one, or into a directory of links; the descriptors that it refused. */
function copy(
  from: readonly number[],
  to: readonly number[],
  directory: string | undefined,
): Promise<Set<number>> {
  const sources = from.map((_, i) => `/proc/self/fd/${firstDescriptor + i}`);
  const target = `/proc/self/fd/${firstDescriptor + from.length}`;
  const args = ["--attributes-only", "--preserve=xattr"];
  args.push(...(directory === undefined ? [...sources, target] : ["-t", directory, ...sources]));
  return new Promise(resolve => {
    const env = { PATH: process.env.PATH, LC_ALL: "C" };
    const child = spawn("cp", args, { stdio: ["ignore", "ignore", "pipe", ...from, ...to], env });
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    child.once("error", () => resolve(new Set())); // no such program: nothing can be kept
    child.once("close", () => {
      resolve(new Set([...errors.matchAll(/attributes for '[^']*\/(\d+)'/g)].map(match => Number(match[1]))));
    });
  });
}
