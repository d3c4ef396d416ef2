// Makes the n-th system call of the write path fail, or kills the process in it.
import { sys } from "../../src/engine/workspace/commit/syscalls.ts";

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

export function errno(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall });
}
