// Paths that commands must not see, held by handle once found: renaming them or a parent does not uncover them. Each
// start of a command also checks the names again, as a program may have created a new file under an old name.
import { Fault } from "../fault.ts";
import { once } from "../once.ts";
import { ifAllowed, system } from "../workspace/errno.ts";
import { display, Handle } from "../workspace/handle.ts";
import { Location } from "../workspace/location.ts";
import { byDescriptor } from "../workspace/system/descriptors.ts";

export class HiddenPlaces implements Disposable {
  /** Where they are expected. */
  readonly paths: readonly string[];
  readonly #held = new Map<string, Handle>();
  /** Where they are expected, without links. */
  readonly #canonical = once(() => this.paths.map(canonical));

  constructor(paths: readonly string[]) {
    this.paths = paths;
    this.found();
  }

  /** All that exist now, each once. The handles stay this object's own. */
  found(): readonly Handle[] {
    if (!byDescriptor) return [];
    for (const path of this.paths) {
      const handle = openIfReachable(path);
      if (handle === undefined) continue;
      const { dev, ino } = handle.statBig();
      const key = `${dev}:${ino}`;
      if (this.#held.has(key)) handle.close();
      else this.#held.set(key, handle);
    }
    for (const [key, handle] of this.#held) {
      if (handle.stat().nlink > 0) continue;
      handle.close();
      this.#held.delete(key);
    }
    return [...this.#held.values()];
  }

  /** Where they are, or would be now. */
  places(): readonly string[] {
    return [...this.#canonical(), ...this.found().map(handle => display(handle.whereabouts()))];
  }

  [Symbol.dispose](): void {
    for (const handle of this.#held.values()) handle.close();
    this.#held.clear();
  }
}

function canonical(path: string): string {
  using location = new Location(path);
  return display(location.path);
}

/** Undefined if it does not exist, cannot be reached by this user, or is on a mount whose server is gone. */
function openIfReachable(path: string): Handle | undefined {
  try {
    return system(path, () => ifAllowed(() => Handle.open(path)));
  } catch (error) {
    if (Fault.is(error, "io") && error.data.errno === "ENOTCONN") return undefined;
    throw error;
  }
}
