// How this process distinguishes boots and processes. The choice depends on what the system offers.
import { onWindows } from "../windows-path.ts";
import { byDescriptor } from "./descriptors.ts";
import type { Machine } from "./machine.ts";
import { machineByNumbers } from "./machine-by-numbers.ts";
import { machineByProc } from "./machine-by-proc.ts";
import { type AskProgram, machineByPrograms } from "./machine-by-programs.ts";

let machine: Machine | undefined;
let ask: AskProgram | undefined;

/** Programs are asked in this way. Called before the first question, by the part that may start programs. */
export function askProgramsBy(asking: AskProgram): void {
  ask ??= asking;
}

export function thisMachine(): Machine {
  machine ??= chosen();
  return machine;
}

function chosen(): Machine {
  if (byDescriptor) return machineByProc;
  return onWindows || ask === undefined ? machineByNumbers : machineByPrograms(ask);
}

/** Whether the process that had this number and start is gone. False if that is unknown. */
export function isGone(pid: number, start: string): boolean {
  const now = thisMachine().startOf(pid);
  return now === undefined || (now !== "" && start !== "" && now !== start);
}
