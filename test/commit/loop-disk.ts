// A disk in a file, where this process may mount one. It can be taken away, and brought back with what it held.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class LoopDisk implements Disposable {
  readonly #image: string;
  readonly #at: string;
  /** Whether it could be made. */
  readonly isThere: boolean;

  /** `image` is a new file. `born`: when the disk was formatted, in seconds since 1970. */
  constructor(image: string, at: string, born = Math.floor(Date.now() / 1000)) {
    this.#image = image;
    this.#at = at;
    mkdirSync(at, { recursive: true });
    writeFileSync(image, "");
    truncateSync(image, 16e6);
    const env = { ...process.env, E2FSPROGS_FAKE_TIME: String(born) };
    const { status } = spawnSync("mkfs.ext4", ["-q", "-F", "-I", "256", image], { env });
    this.isThere = status === 0 && this.mount();
  }

  mount(): boolean {
    return spawnSync("mount", ["-o", "loop", this.#image, this.#at]).status === 0;
  }

  unmount(): void {
    spawnSync("umount", ["-l", this.#at]);
  }

  [Symbol.dispose](): void {
    this.unmount();
    rmSync(this.#image, { force: true });
  }
}

/** Whether one can be made here. */
export function mayMount(): boolean {
  const base = mkdtempSync(join(tmpdir(), "polyfs-may-"));
  using disk = new LoopDisk(join(base, "image"), join(base, "at"));
  const { isThere } = disk;
  disk.unmount();
  rmSync(base, { recursive: true });
  return isThere;
}
