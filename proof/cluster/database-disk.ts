// The disk of the database: a file system in memory that can be made full and given room again.
import { spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";
import { mountSmall } from "../../test/commit/small-disk.ts";

const room = "6g";

export class DatabaseDisk implements AsyncDisposable {
  readonly path: string;
  readonly #mount: AsyncDisposable & { readonly mounted: boolean };

  constructor(path: string) {
    this.path = path;
    mkdirSync(path, { recursive: true });
    this.#mount = mountSmall(path, room);
    if (this.#mount.mounted) spawnSync("chmod", ["755", path]);
  }

  /** Where this process may not mount, the database is on the disk of everything else. */
  get isOwn(): boolean {
    return this.#mount.mounted;
  }

  fill(): void {
    const { blocks, bfree, bsize } = statfsSync(this.path);
    this.#resize(String((Number(blocks) - Number(bfree)) * Number(bsize) + 65_536));
  }

  free(): void {
    this.#resize(room);
  }

  #resize(size: string): void {
    spawnSync("mount", ["-o", `remount,size=${size}`, this.path]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#mount[Symbol.asyncDispose]();
  }
}
