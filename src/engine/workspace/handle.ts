// A held file-system object: the opened object itself, not a name that can be swapped. How it is held depends on the
// system (system/held.ts).
import { Buffer } from "node:buffer";
import type { BigIntStats, Stats } from "node:fs";
import { errnoOf } from "./errno.ts";
import { bytesWritten, isEscaped, written } from "./name.ts";
import { byDescriptor, HeldByDescriptor } from "./system/descriptors.ts";
import { byWorkingDirectory } from "./system/entered-directory.ts";
import type { Address, Held, OpenOptions } from "./system/held.ts";
import { HeldByPath } from "./system/paths.ts";
import { HeldByWorkingDirectory, isWithinReach } from "./system/working-directory.ts";

export class Handle implements Disposable {
  readonly #held: Held;

  private constructor(held: Held) {
    this.#held = held;
  }

  /** Opens `address`. With `follow` false, a link itself is opened. */
  static open(
    address: Address,
    { follow = true, directory = false, own = false }: Partial<OpenOptions> = {},
  ): Handle {
    const options = { follow, directory, own };
    if (byDescriptor) return new Handle(HeldByDescriptor.open(address, options));
    const way = byWorkingDirectory() ? HeldByWorkingDirectory : HeldByPath;
    return new Handle(way.open(address, options));
  }

  /** A descriptor of the object, on Linux with /proc; else -1. */
  get fd(): number {
    return this.#held.fd;
  }

  /** This object's own address. */
  get address(): string {
    return this.#held.address;
  }

  /**
   * The address of an entry of this directory: a name, or a relative path whose result the caller checks. A string is
   * a written name (name.ts); a Buffer holds the bytes.
   */
  below(name: Address): Address {
    if (typeof name === "string" && !isEscaped(name)) return `${this.address}/${name}`;
    const bytes = typeof name === "string" ? bytesWritten(name) : name;
    return Buffer.concat([Buffer.from(`${this.address}/`), bytes]);
  }

  /** The directory for a child process or a socket that is started at once. */
  currentPath(): string {
    return this.#held.currentPath();
  }

  /**
   * The object's current path as the system reports it: bytes as Latin-1, so that comparing is exact for names that
   * are not UTF-8 (see `display`).
   */
  whereabouts(): string {
    return this.#held.whereabouts();
  }

  /**
   * Whether an entry of this directory can be moved into another, or with `deeper` into one below that, in one
   * race-free rename. Always true with /proc.
   */
  reaches(other: Handle, deeper: boolean): boolean {
    return byDescriptor || isWithinReach(this.#held, other.#held, deeper);
  }

  stat(): Stats {
    return this.#held.stat();
  }

  statBig(): BigIntStats {
    return this.#held.statBig();
  }

  close(): void {
    try {
      this.#held.close();
    } catch (error) {
      if (errnoOf(error) !== "EBADF") throw error;
    }
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** Whether paths are resolved and opened without a moment in which something can be swapped. */
export function isRaceFree(): boolean {
  return byDescriptor || byWorkingDirectory();
}

/** How objects are held here, for people. */
export function heldBy(): "descriptor" | "working directory" | "path" {
  return byDescriptor ? "descriptor" : byWorkingDirectory() ? "working directory" : "path";
}

/** The written form (name.ts) of a path of `whereabouts`. */
export function display(whereabouts: string): string {
  return isSimple(whereabouts) ? whereabouts : written(Buffer.from(whereabouts, "latin1"));
}

/** The inverse of `display`. */
export function bytesOf(path: string): string {
  return isSimple(path) ? path : bytesWritten(path).toString("latin1");
}

/** Whether the written form, the bytes as Latin-1 and the text are the same. */
function isSimple(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return !isEscaped(text);
}
