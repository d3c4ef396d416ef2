// Names of directory entries as bytes in Latin-1: exact for every name, including those that are not UTF-8.
import { Buffer } from "node:buffer";
import type { Handle } from "../handle.ts";
import { readdirSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";

/** In order; none where the directory may not be read. */
export function rawNamesIn(directory: Handle): string[] {
  try {
    return readdirSync(directory.address, { encoding: "latin1" }).sort();
  } catch {
    return [];
  }
}

/** For system calls. */
export function addressOf(name: string): Address {
  return /^[\x20-\x5b\x5d-\x7e]*$/.test(name) ? name : Buffer.from(name, "latin1");
}
