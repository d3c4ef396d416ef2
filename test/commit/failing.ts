// Makes the n-th system call of the write path fail, or kills the process in it.
import { constants } from "node:os";
import { sys } from "../../src/engine/workspace/disk/syscalls.ts";

type Calls = Record<string, (...args: never[]) => unknown>;

const originals = { ...sys };

/** Runs `action` with `onCall` told about every system call before it happens. */
export async function watching<T>(
  onCall: (count: number, name: string, args: readonly unknown[]) => void,
  action: () => Promise<T>,
): Promise<T> {
  let count = 0;
  for (const [name, original] of Object.entries(originals as unknown as Calls)) {
    (sys as unknown as Calls)[name] = (...args) => {
      onCall(++count, name, args);
      return original(...args);
    };
  }
  try {
    return await action();
  } finally {
    Object.assign(sys, originals);
  }
}

/** As Node throws it: it has no name for a quota that is used up. */
export function errno(code: string, syscall: string): Error {
  const number = -((constants.errno as Record<string, number>)[code] ?? 0);
  const named = code === "EDQUOT" ? `Unknown system error ${number}` : code;
  return Object.assign(new Error(`${named}: injected, ${syscall}`), { code: named, errno: number, syscall });
}
