// The path of a socket in a held directory, for a call that is made at once. It goes by the handle, because the path of
// a socket is at most 107 bytes long. Windows has no sockets in its file system that Node could use, but named pipes,
// whose names are apart from all files.
import type { Handle } from "../handle.ts";
import { onWindows } from "../windows-path.ts";

export function socketPath(directory: Handle, name: string): string {
  return onWindows ? `\\\\?\\pipe\\polyfs-${name}` : `${directory.currentPath()}/${name}`;
}
