// File systems whose files the kernel generates on access (Linux).
import { statfsSync } from "./system/calls.ts";
import { byDescriptor } from "./system/descriptors.ts";

const proc = 0x9fa0;

/** /proc, /sys and their like: files without size whose reading has effects or never ends. */
const synthetic = new Set([
  proc,
  0x62656572,
  0x64626720,
  0x74726163,
  0x73636673,
  0x63677270,
  0x27e0eb,
  0x1cd1,
  0xcafe4a11,
  0x6e736673,
]);

export function isSynthetic(address: string): boolean {
  return byDescriptor && synthetic.has(statfsSync(address).type);
}

export function isProc(address: string): boolean {
  return byDescriptor && statfsSync(address).type === proc;
}
