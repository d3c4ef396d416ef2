// Calls of node:fs that fail, as on a disk that breaks or in a process that has run out of descriptors. To be imported
// before anything that imports node:fs.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { constants } from "node:os";

type Call = (...args: unknown[]) => unknown;

let onCall: ((name: string) => void) | undefined;

const calls = fs as unknown as Record<string, Call>;
/** Closing is left alone: a descriptor that stays open would be the test's own fault. */
const names = Object.keys(calls).filter(
  name => /^[a-z]\w*Sync$/.test(name) && !/^(close|exists)Sync$/.test(name),
);
for (const name of names) {
  const original = calls[name] as Call;
  const failing: Call = (...args) => {
    onCall?.(name);
    return original(...args);
  };
  calls[name] = Object.assign(failing, original);
}
for (const name of ["open", "read", "write", "fsync", "fdatasync", "readdir", "lstat", "stat", "fstat"]) {
  const original = calls[name] as Call;
  const failing: Call = (...args) => {
    try {
      onCall?.(name);
    } catch (error) {
      return void setImmediate(args.at(-1) as Call, error);
    }
    return original(...args);
  };
  calls[name] = Object.assign(failing, original);
}
syncBuiltinESMExports();

/** `EIO`, `EBUSY`: one call fails. `EMFILE`: no call from there on gets a descriptor. */
export interface FailingCall {
  readonly at: number;
  readonly errno: "EIO" | "EBUSY" | "EMFILE";
}

const opening = /^(open|readdir|opendir|readFile|writeFile|copyFile)/;

/** Runs an action whose calls fail. Whether there were so many calls, and what the action threw. */
export async function withFailing(
  { at, errno }: FailingCall,
  action: () => Promise<unknown>,
): Promise<{ readonly failed: boolean; readonly error: unknown }> {
  let count = 0;
  onCall = syscall => {
    count++;
    if (errno === "EMFILE" ? count < at || !opening.test(syscall) : count !== at) return;
    const number = -constants.errno[errno];
    throw Object.assign(new Error(`${errno}: injected, ${syscall}`), { code: errno, errno: number, syscall });
  };
  try {
    await action();
    return { failed: count >= at, error: undefined };
  } catch (error) {
    return { failed: count >= at, error };
  } finally {
    onCall = undefined;
  }
}

/** Every so many calls of an action in turn. Endless. */
export function* failingCalls(step: number): Generator<FailingCall> {
  for (let at = 1; ; at += step) {
    yield { at, errno: "EIO" };
    yield { at, errno: "EBUSY" };
    yield { at, errno: "EMFILE" };
  }
}
