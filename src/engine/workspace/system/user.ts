// Who runs this process. In a container the user is often a number without an entry in the user database; Node throws
// when it is asked about such a user.
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute } from "node:path";

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
