// Which workspace a grant was given for. A grant names a workspace, and a name can pass to another workspace when its
// holder is dropped; so the id that a name meant first is remembered, and a grant never follows the name elsewhere.
import { createHash } from "node:crypto";
import { join } from "node:path";
import { create, valueAt } from "../store/directory/durable-file.ts";
import type { WorkspaceId } from "../store/store.ts";
import type { Layout } from "./layout.ts";

interface GrantBinding {
  readonly id: WorkspaceId;
}

export class Bindings {
  readonly #layout: Layout;
  readonly #known = new Map<string, WorkspaceId>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** The id that `name` has meant to this grant; undefined if it has not been asked for yet. */
  get(grant: string, name: string): WorkspaceId | undefined {
    const path = this.#path(grant, name);
    const known = this.#known.get(path) ?? idAt(path);
    if (known !== undefined) this.#known.set(path, known);
    return known;
  }

  /** Remembers an id, unless another process was first: its id holds then. */
  async set(grant: string, name: string, id: WorkspaceId): Promise<WorkspaceId> {
    await create(this.#path(grant, name), this.#layout.bound, { id } satisfies GrantBinding);
    return this.get(grant, name) ?? id;
  }

  #path(grant: string, name: string): string {
    const key = createHash("sha256").update(`${grant}\0${name}`).digest("hex");
    return join(this.#layout.bound, key);
  }
}

/** A damaged one is for no workspace: it must not pass to the one that has the name now. */
function idAt(path: string): WorkspaceId | undefined {
  const value = valueAt<GrantBinding>(path);
  return value === "damaged" ? "" : value?.id;
}
