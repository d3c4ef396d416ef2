// Names of directory entries as bytes in Latin-1: exact for every name, including those that are not UTF-8.
import { Buffer } from "node:buffer";
import type { Handle } from "../handle.ts";
import { readdirSync } from "../system/calls.ts";
import type { Address } from "../system/held.ts";

/** In order. Throws where they cannot be read: a directory without names would be taken for an empty one. */
export function rawNamesIn(directory: Handle): string[] {
  return readdirSync(directory.address, { encoding: "latin1" }).sort();
}

/** For system calls. */
export function addressOf(name: string): Address {
  return /^[\x20-\x5b\x5d-\x7e]*$/.test(name) ? name : Buffer.from(name, "latin1");
}
