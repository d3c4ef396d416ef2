// Extended attributes and ACLs of replaced files. Node has no call for them; `cp` has, on open files that it
// inherits, so no name is followed. Copying onto a file in /proc, where attributes cannot be set, fails exactly if
// there are some. ACLs are not among them: `cp` takes these for a part of the mode, and `ls` marks files that have
// one. A check takes processes, so all files of a commit are checked together, and each only once while it is
// unchanged.

import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { CopyAttributes } from "../workspace/commit/copy-attributes.ts";
import { errnoOf } from "../workspace/errno.ts";
import { byDescriptor } from "../workspace/system/descriptors.ts";
import { attributesCopied, giveUpShell } from "./attribute-shell.ts";

const firstDescriptor = 3; // of the files that the child is handed
const mostAtOnce = 200;
const mostKnown = 10_000;

/** What only the disk knows. */
export interface AttributeDisk {
  /** Identifies an open file and its state, whatever its name. Undefined for what is not a regular file. */
  identify(fd: number): string | undefined;
  /** A directory of links `from`…`to` that all lead to `target`. */
  links(from: number, to: number, target: string): Promise<string>;
}

interface RegularFile {
  readonly fd: number;
  readonly file: string;
}

/** Copies them from one open file to another; undefined if there is no way to. */
export function attributeCopier({ identify, links }: AttributeDisk): CopyAttributes | undefined {
  if (!byDescriptor) return undefined;
  const without = new Set<string>();
  const add = (file: string) => {
    if (without.size > mostKnown) without.clear();
    without.add(file);
  };
  /** Checks in progress: callers with the same question share the answer. */
  const open = new Map<string, Promise<void>>();
  /** Only these are handed to a program: it opens them again, and opening a pipe would block it. */
  const regular = (files: readonly number[]): RegularFile[] =>
    files.flatMap(fd => {
      const file = identify(fd);
      return file === undefined ? [] : [{ fd, file }];
    });
  const ask = async (files: readonly number[]): Promise<void> => {
    const before = regular(files)
      .map(({ file }) => open.get(file))
      .filter(one => one !== undefined);
    if (before.length > 0) await Promise.all(before);
    const unknown = regular(files).filter(({ file }) => !without.has(file));
    if (unknown.length === 0) return;
    const asking = askAnew(unknown);
    for (const { file } of unknown) open.set(file, asking);
    try {
      await asking;
    } finally {
      for (const { file } of unknown) open.delete(file);
    }
  };
  const askAnew = async (unknown: readonly RegularFile[]): Promise<void> => {
    for (let at = 0; at < unknown.length; at += mostAtOnce) {
      const some = unknown.slice(at, at + mostAtOnce).map(({ fd }) => fd);
      const asked = unknown.slice(at, at + mostAtOnce).map(({ file }) => file);
      // About one file, the question goes out before anything else is done.
      const to = some.length === 1 ? nowhere : await links(Math.min(...some), Math.max(...some), nowhere);
      if (await attributesCopied(some, to)) {
        asked.forEach(add);
        continue;
      }
      // Some have, or the shell cannot find out; the errors of `cp` name them.
      const farm = await links(firstDescriptor, firstDescriptor + some.length - 1, nowhere);
      const args = ["-t", farm, ...some.map((_, i) => target(i))];
      const complaints = await complaintsOf(run(some, args, "pipe"));
      const refused = new Set(
        [...complaints.matchAll(/attributes for '[^']*\/(\d+)'/g)].map(([, n]) => Number(n)),
      );
      for (const { number } of await withAcl(some)) refused.add(number);
      if (refused.size === 0) giveUpShell();
      for (const [i, file] of asked.entries()) if (!refused.has(firstDescriptor + i)) add(file);
    }
  };
  const copyOne = async (from: number, to: number): Promise<void> => {
    await ask([from]);
    const file = identify(from);
    if (file === undefined || without.has(file)) return;
    // Copying the ACL copies the mode, and a set-ID bit must not pass to a file of another owner even for a moment.
    const copiesAcl = (await withAcl([from])).some(({ hasSetId }) => !hasSetId);
    await succeeds(run([from, to], [target(0), target(1)], "ignore", copiesAcl ? "mode,xattr" : "xattr"));
  };
  return Object.assign(copyOne, { ask, learn: add, isWithout: (file: string) => without.has(file) });
}

/** A file that cannot take attributes. */
const nowhere = "/proc/self/comm";

/** The n-th file that the child is handed. */
function target(n: number): string {
  return `/proc/self/fd/${firstDescriptor + n}`;
}

/** Starts `cp` with some open files; its error output is read only if requested. */
function run(
  files: readonly number[],
  args: readonly string[],
  complaints: "pipe" | "ignore",
  preserved: "xattr" | "mode,xattr" = "xattr",
): ChildProcess {
  const stdio: StdioOptions = ["ignore", "ignore", complaints, ...files];
  return spawn("cp", ["--attributes-only", `--preserve=${preserved}`, ...args], {
    stdio,
    env: environment(),
  });
}

function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: "C" };
}

interface FileWithAcl {
  /** By which the child knows it. */
  readonly number: number;
  readonly hasSetId: boolean;
}

async function withAcl(files: readonly number[]): Promise<FileWithAcl[]> {
  const stdio: StdioOptions = ["ignore", "pipe", "ignore", ...files];
  const listed = await outputOf(
    spawn("ls", ["-Lldn", ...files.map((_, i) => target(i))], { stdio, env: environment() }),
  );
  return [...listed.matchAll(/^-([-rwxsStT]{9})\+ .*\/(\d+)$/gm)].map(([, mode = "", number]) => {
    return { number: Number(number), hasSetId: /s/i.test(mode) };
  });
}

function succeeds(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve, reject) => {
    child.once("error", error => (isMissing(error) ? resolve(false) : reject(error)));
    child.once("exit", code => resolve(code === 0));
  });
}

function complaintsOf(child: ChildProcess): Promise<string> {
  return textOf(child, child.stderr);
}

function outputOf(child: ChildProcess): Promise<string> {
  return textOf(child, child.stdout);
}

function textOf(child: ChildProcess, stream: Readable | null): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    stream?.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    child.once("error", error => (isMissing(error) ? resolve("") : reject(error)));
    child.once("close", () => resolve(text));
  });
}

/** No such program: attributes cannot be kept. If it exists and only failed to start, attributes must not be lost. */
function isMissing(error: Error): boolean {
  return errnoOf(error) === "ENOENT" || errnoOf(error) === "EACCES";
}
