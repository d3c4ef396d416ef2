// How boots and processes are distinguished, by each way that a system may have: /proc, the programs `sysctl` and `ps`
// (acted out by scripts that answer as those of macOS do), and numbers alone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { askProgram } from "../../src/engine/shell/ask-program.ts";
import type { Machine } from "../../src/engine/workspace/system/machine.ts";
import { machineByNumbers } from "../../src/engine/workspace/system/machine-by-numbers.ts";
import { machineByProc } from "../../src/engine/workspace/system/machine-by-proc.ts";
import { machineByPrograms } from "../../src/engine/workspace/system/machine-by-programs.ts";
import { isGone, thisMachine } from "../../src/engine/workspace/system/this-machine.ts";
import { onWindows } from "../../src/engine/workspace/windows-path.ts";
import { hasProc } from "../setup/proc.ts";

const path = process.env.PATH;
let bin: string;

beforeEach(() => {
  bin = mkdtempSync(join(tmpdir(), "polyfs-programs-"));
  process.env.PATH = [bin, path].join(delimiter);
});

afterEach(() => {
  process.env.PATH = path;
  rmSync(bin, { recursive: true, force: true });
});

function program(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(bin, name), 0o755);
}

/** As on macOS: a UUID for each boot, and a start to the second. */
function macOS(): Machine {
  program("sysctl", '[ "$2" = kern.bootsessionuuid ] && echo 6F1C2A9E-0D64-4B0F-9E1B-6C1D4F3A2B10');
  program(
    "ps",
    'echo "S+   $(cat "$(dirname "$0")/started-$6" 2>/dev/null || echo Sun Nov 15 20:40:38 2026)"',
  );
  return machineByPrograms(askProgram);
}

async function ended(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  const { pid = 0 } = child;
  await once(child, "exit");
  return pid;
}

const ways: readonly (readonly [string, boolean, () => Machine])[] = [
  ["by /proc", hasProc && !onWindows, () => machineByProc],
  ["by programs", !onWindows, macOS],
  ["by numbers", true, () => machineByNumbers],
  ["as this process does it", true, thisMachine],
];

describe.each(ways.filter(([, isHere]) => isHere))("a machine %s", (_, __, machine) => {
  it("has one boot, and gives the same answer about a process each time", () => {
    const asked = machine();
    expect(asked.boot()).toBe(asked.boot());
    expect(asked.startOf(process.pid)).toBeDefined();
    expect(asked.startOf(process.pid)).toBe(asked.startOf(process.pid));
    expect(asked.namespace()).toBe(asked.namespace());
  });

  it("detects that a process ended", async () => {
    expect(machine().startOf(await ended())).toBeUndefined();
  });
});

it.skipIf(onWindows)("a process that ended is not mistaken for a later one with its number", async () => {
  const asked = macOS();
  const before = asked.startOf(process.pid);
  writeFileSync(join(bin, `started-${process.pid}`), "Mon Nov 16 08:00:00 2026");
  expect(before).toMatch(/^\w+$/);
  expect(machineByPrograms(askProgram).startOf(process.pid)).not.toBe(before);
});

it("a process whose number is unused, or was started at another time, has ended", async () => {
  expect(isGone(await ended(), "")).toBe(true);
  expect(isGone(process.pid, thisMachine().startOf(process.pid) ?? "")).toBe(false);
  expect(isGone(process.pid, "")).toBe(false);
});

describe.skipIf(onWindows)("the programs of a system without /proc", () => {
  it("identify the boot by its UUID, or by the time of it", () => {
    expect(macOS().boot()).toBe("6f1c2a9e-0d64-4b0f-9e1b-6c1d4f3a2b10");
    program(
      "sysctl",
      '[ "$2" = kern.boottime ] && echo "{ sec = 1763232000, usec = 123 } Sat Nov 15 18:40:00 2025"',
    );
    expect(machineByPrograms(askProgram).boot()).toBe("00000000-0000-0000-0000-00006918c900");
    program("sysctl", "exit 1");
    expect(machineByPrograms(askProgram).boot()).toBeUndefined();
  });

  it("may be missing or forbidden: then only the number identifies a process", () => {
    program("ps", "exit 1");
    program("sysctl", "exit 1");
    const asked = machineByPrograms(askProgram);
    expect([asked.boot(), asked.startOf(process.pid)]).toEqual([undefined, ""]);
  });

  it("a zombie counts as ended", () => {
    macOS();
    const asked = machineByPrograms(askProgram);
    expect(asked.startOf(process.pid)).toMatch(/^Sun/);
    const zombie = process.ppid;
    program("ps", 'echo "Z    Sun Nov 15 20:40:38 2026"');
    expect(asked.startOf(zombie)).toBeUndefined();
  });
});
