// A file without a name, for handing data to a child process: it can be read there more than once and by its
// address, unlike a pipe, and it is gone when the last process has closed it. Where a process cannot open its own
// descriptors by an address (Windows, Linux without /proc), the file keeps a name until it is disposed of.
import { closeSync, existsSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { writeAll } from "../disk/syscalls.ts";
import { temporaryName } from "../disk/temporary.ts";
import { ownForm } from "../windows-path.ts";
import { byDescriptor } from "./descriptors.ts";
import { temporaryDirectory } from "./user.ts";

/** The directory of a process's own descriptors; undefined if there is none. */
const descriptors = byDescriptor ? "/proc/self/fd" : existsSync("/dev/fd/0") ? "/dev/fd" : undefined;

export class UnnamedFile implements Disposable {
  readonly fd: number;
  readonly #path: string;

  private constructor(fd: number, path: string) {
    this.fd = fd;
    this.#path = path;
  }

  /** How a child opens it that has it as this descriptor. */
  address(descriptor: number): string {
    return descriptors === undefined ? this.#path : `${descriptors}/${descriptor}`;
  }

  /** Whether the child opens it by its name, so that it must stay until the child has ended. */
  static readonly isNamed = descriptors === undefined;

  /** Undefined if the system has no room for it. */
  static of(contents: string | Uint8Array): UnnamedFile | undefined {
    let file: UnnamedFile | undefined;
    try {
      const path = ownForm(join(temporaryDirectory(), temporaryName()));
      file = new UnnamedFile(openSync(path, "wx+", 0o600), path);
      if (!UnnamedFile.isNamed) unlinkSync(path);
      writeAll(file.fd, typeof contents === "string" ? Buffer.from(contents) : contents);
      return file;
    } catch {
      file?.[Symbol.dispose]();
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
    if (!UnnamedFile.isNamed) return;
    try {
      unlinkSync(this.#path);
    } catch {
      // It is among the temporary files, which are cleared by others too.
    }
  }
}
