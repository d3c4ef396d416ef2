// Who runs this process. In a container the user is often a number without an entry in the user database; Node throws
// when it is asked about such a user.
import { readFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute } from "node:path";
import { once } from "../../once.ts";

/** The user's number; -1 on Windows, where there is none. */
export const userId = process.getuid?.() ?? -1;

/** The user's home as an absolute path; undefined if the user has none. */
export function userHome(): string | undefined {
  for (const home of [homedir, () => userInfo().homedir]) {
    try {
      const path = home();
      if (isAbsolute(path)) return path;
    } catch {
      // no HOME, or no entry
    }
  }
  return undefined;
}

/** The same; the directory for temporary files where the user has none. */
export function homeDirectory(): string {
  return userHome() ?? temporaryDirectory();
}

/** The directory for temporary files. A relative one would be in the working directory, which is a user's project. */
export function temporaryDirectory(): string {
  const told = tmpdir();
  return isAbsolute(told) ? told : "/tmp";
}

/** CAP_FOWNER */
const forOwners = 1n << 3n;
/** The number by which a user namespace shows users that are not in it. */
const overflowUser = 65_534;

const rightsOfRoot = once((): { readonly hasOwners: boolean; readonly hasAll: boolean } => {
  try {
    const [, effective] = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "latin1")) ?? [];
    const users = readFileSync("/proc/self/uid_map", "latin1").trim().split(/\s+/);
    return {
      hasOwners: effective === undefined || (BigInt(`0x${effective}`) & forOwners) !== 0n,
      hasAll: users.join(" ") === "0 0 4294967295",
    };
  } catch {
    return { hasOwners: true, hasAll: true }; // a system without capabilities
  }
});

/**
 * Whether root may do what is up to the owner of a file. A container may have taken that away, and in a user namespace it
 * holds only for the users in it.
 */
export function rootActsFor(owner: number): boolean {
  const { hasOwners, hasAll } = rightsOfRoot();
  return hasOwners && (hasAll || owner !== overflowUser);
}
