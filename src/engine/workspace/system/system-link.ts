// Where a link of the system points: on most Linux systems /bin, /lib and their like are links into /usr.
import { readlinkSync } from "node:fs";

/** Undefined if there is no such path, or it is not a link. */
export function systemLink(path: `/${string}`): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
