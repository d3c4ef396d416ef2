// Whether anything in a tree has changed since a moment, by the one time that a program cannot set: the inode's time of
// change. find(1) looks at a tree several times as fast as calls from here would.
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";

/** Undefined where it cannot be told. `since` is in milliseconds since 1970; a change at that moment counts. */
export async function isChangedSince(tree: string, since: number): Promise<boolean | undefined> {
  try {
    const time = `@${(since / 1000).toFixed(3)}`;
    const args = ["-H", ".", "-newerct", time, "-print", "-quit"];
    const find = await startProcess("find", args, { cwd: tree, env: reducedEnvironment() });
    let found = false;
    const { code, errors } = await find.read(() => {
      found = true;
    });
    return found || (code === 0 && errors === "" ? false : undefined);
  } catch {
    return undefined;
  }
}
