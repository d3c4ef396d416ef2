// Which workspace a grant was given for. A grant names a workspace, and a name can pass to another workspace when its
// holder is dropped; so the id that a name meant first is remembered, and a grant never follows the name elsewhere.
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { WorkspaceId } from "../store/store.ts";
import { contentAt } from "../workspace/commit/if-there.ts";
import { sys } from "../workspace/commit/syscalls.ts";
import { errnoOf } from "../workspace/errno.ts";
import { writeNamedFile } from "../workspace/system/named-file.ts";
import { type Layout, newId } from "./layout.ts";

export class Bindings {
  readonly #layout: Layout;
  readonly #known = new Map<string, WorkspaceId>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** The id that `name` has meant to this grant; undefined where it has not been asked for yet. */
  get(grant: string, name: string): WorkspaceId | undefined {
    const path = this.#path(grant, name);
    const known = this.#known.get(path) ?? contentAt(path)?.toString("utf8");
    if (known !== undefined) this.#known.set(path, known);
    return known;
  }

  /** Remembers an id, unless another process was first: its id holds then. */
  set(grant: string, name: string, id: WorkspaceId): WorkspaceId {
    const path = this.#path(grant, name);
    const draft = `${path}.${newId()}`;
    writeNamedFile(draft, id);
    try {
      sys.link(draft, path);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    } finally {
      sys.unlink(draft);
    }
    return this.get(grant, name) ?? id;
  }

  #path(grant: string, name: string): string {
    const key = createHash("sha256").update(`${grant}\0${name}`).digest("hex");
    return join(this.#layout.bound, key);
  }
}
