// A file without a name, for handing data to a child process: it can be read there more than once and by its
// address, unlike a pipe, and it is gone when the last process has closed it.
import { closeSync, openSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeAll } from "../commit/syscalls.ts";
import { temporaryName } from "../commit/temporary.ts";

export class UnnamedFile implements Disposable {
  readonly fd: number;

  private constructor(fd: number) {
    this.fd = fd;
  }

  /** Undefined where the system has no room for it. */
  static of(contents: string | Uint8Array): UnnamedFile | undefined {
    let file: UnnamedFile | undefined;
    try {
      const path = join(tmpdir(), temporaryName());
      file = new UnnamedFile(openSync(path, "wx+", 0o600));
      unlinkSync(path);
      writeAll(file.fd, typeof contents === "string" ? Buffer.from(contents) : contents);
      return file;
    } catch {
      file?.[Symbol.dispose]();
      return undefined;
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}
