// Which sandbox this machine has, and opening it for a policy.
import { openBubblewrap } from "./bubblewrap.ts";
import { findBubblewrap } from "./find-bubblewrap.ts";
import type { Sandbox } from "./launch.ts";
import type { SandboxFound, SandboxMissing, SandboxPolicy } from "./policy.ts";
import { findSeatbelt, openSeatbelt } from "./seatbelt.ts";

/** Looks for a sandbox and tries it. Never falls back to running without one: that is for the user to say. */
export async function findSandbox(): Promise<SandboxFound | SandboxMissing> {
  if (process.platform === "linux") return await findBubblewrap();
  if (process.platform === "darwin") return await findSeatbelt();
  return {
    missing: `no sandbox is known for ${process.platform}`,
    install: "Linux with bubblewrap, or macOS",
  };
}

export function openSandbox(found: SandboxFound, policy: SandboxPolicy): Sandbox {
  return found.kind === "bubblewrap" ? openBubblewrap(found, policy) : openSeatbelt(found, policy);
}
