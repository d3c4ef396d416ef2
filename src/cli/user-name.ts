// The name of the user who runs the program.
import { userInfo } from "node:os";

/** "" where the system knows none. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}
