// A directory of a tree that is compared or copied, which may have been removed meanwhile.
import { ifThere } from "../errno.ts";
import { Handle } from "../handle.ts";
import type { Address } from "../system/held.ts";

/** Undefined if there is nothing, or something that is not a directory. A link is not followed. */
export function directoryIfThere(address: Address): Handle | undefined {
  return ifThere(() => Handle.open(address, { follow: false, directory: true }));
}
