// Parses what a warden (the program that guards a confined command) reports about the command's end.
import { constants } from "node:os";

/** How a command ended: with a code, or by a signal. */
export interface WardenExit {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Whether the command began at all: if not, the warden itself failed, and its output says why. */
export function hasBegun(warden: WardenExit, report: string): boolean {
  return warden.exitCode === null || report.includes('"exit-code"');
}

/**
 * The first process of the command's namespace, as this machine numbers it. The kernel ends the namespace with it. A
 * warden reports it before the command begins.
 */
export function firstProcess(report: string): number | undefined {
  const [, number] = /"child-pid": (\d+)\s*[,}]/.exec(report) ?? [];
  return number === undefined ? undefined : Number(number);
}

/**
 * The command's own exit. A warden reports a signal as 128 + n, like a shell; a command that exits with such a code
 * cannot be distinguished, and is rarer.
 */
export function exitOfGuarded(warden: WardenExit): WardenExit {
  const number = (warden.exitCode ?? 0) - 128;
  for (const signal of signals) {
    if (constants.signals[signal] === number) return { exitCode: null, signal };
  }
  return warden;
}

const signals = Object.keys(constants.signals) as NodeJS.Signals[];
