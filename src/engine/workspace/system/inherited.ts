// Descriptors that the server inherited beyond its three. Node marks its own as close-on-exec, but not those that the
// parent forgot to close: every command would inherit them.
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { isAbsence } from "../errno.ts";
import { byDescriptor } from "./descriptors.ts";

const O_CLOEXEC = 0o2000000; // the same on every Linux architecture but three that Node does not run on

/** The descriptors that children would inherit. Empty where the system does not list them (not Linux). */
export function inheritedDescriptors(): number[] {
  if (!byDescriptor) return [];
  return readdirSync("/proc/self/fdinfo")
    .map(Number)
    .filter(fd => fd > 2 && !closesOnExec(fd));
}

/** Closes them. For a program at its start, before anything else is opened; a library must not. */
export function closeInherited(): void {
  for (const fd of inheritedDescriptors()) closeSync(fd);
}

/** Every start asks for some twenty of them. Files of /proc have no size, and reading one whole costs several times
 *  as much; the flags are in the first lines. */
const beginning = Buffer.alloc(128);

function closesOnExec(fd: number): boolean {
  try {
    const info = openSync(`/proc/self/fdinfo/${fd}`, "r");
    const read = readSync(info, beginning);
    closeSync(info);
    const flags = /^flags:\s*([0-7]+)\n/m.exec(beginning.toString("latin1", 0, read))?.[1];
    return (Number.parseInt(flags ?? "0", 8) & O_CLOEXEC) !== 0;
  } catch (error) {
    if (!isAbsence(error)) throw error;
    return true; // the descriptor of this listing itself, gone by now
  }
}
