// Boots and processes as /proc reports them (Linux).
import { readFileSync, readlinkSync } from "node:fs";
import type { Machine } from "./machine.ts";
import { startIn } from "./processes.ts";

export const machineByProc: Machine = {
  boot() {
    try {
      return readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    } catch {
      return undefined;
    }
  },

  namespace() {
    try {
      // Where /proc belongs to another namespace, it lists other processes under the numbers of this one.
      const isOurs = readlinkSync("/proc/self") === String(process.pid);
      return isOurs ? readlinkSync("/proc/self/ns/pid") : `${process.pid}?${Date.now()}`;
    } catch {
      return "";
    }
  },

  /** In clock ticks since the boot. A zombie is gone. */
  startOf: startIn,
};
