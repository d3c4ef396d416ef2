// Whether /proc is there. What is about it cannot be tried where it is hidden (tools/platforms/without-proc.mjs).
import { existsSync } from "node:fs";

export const hasProc = existsSync("/proc/self/fd");
