// Names of workspaces. They become parts of paths and of URLs, so only what is safe in both is allowed.
import { Fault } from "../fault.ts";

const most = 64;
/** Devices on Windows, with any extension. */
const devices = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/** Faults: `invalid_workspace_name`. */
export function checkName(name: string): void {
  if (!isName(name)) throw new Fault("invalid_workspace_name", { name: name.slice(0, 200), most });
}

export function isName(name: string): boolean {
  return (
    name.length <= most &&
    /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$/.test(name) &&
    !name.includes("..") &&
    !devices.test(name)
  );
}
