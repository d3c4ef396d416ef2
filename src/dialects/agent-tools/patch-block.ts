// One file of a patch: what it needs to read, and the changes that it comes to.
import type { CallContext } from "../../contract/call.ts";
import { applyFilePatch } from "../../engine/edit/hunks.ts";
import { createdContent, type FilePatch } from "../../engine/edit/patch.ts";
import { Fault } from "../../engine/fault.ts";
import { encode } from "../../engine/text/text.ts";
import type { Change } from "../../engine/workspace/change.ts";
import type { WorkspacePath } from "../../engine/workspace/path.ts";
import { pathAt } from "./names.ts";
import { editableTextOf } from "./text-file.ts";

export class Block {
  readonly #patch: FilePatch;
  /** What is read, or made. */
  readonly path: WorkspacePath;
  /** The new place of what is renamed or copied. */
  readonly #to: WorkspacePath;
  /** The new mode, where the patch changes it. */
  readonly #mode: number | undefined;

  /** Refuses what cannot be patched at all: no file, too large, a link. */
  constructor(patch: FilePatch, call: CallContext) {
    this.#patch = patch;
    this.path = pathAt(call, patch.path);
    this.#to = patch.to === undefined ? this.path : pathAt(call, patch.to);
    this.#mode = patch.kind !== "create" ? this.#inspect(patch, call) : patch.executable ? 0o755 : undefined;
  }

  /** A pure rename moves the bytes, whatever they are; everything else has to see them. */
  get isRead(): boolean {
    const { kind, hunks } = this.#patch;
    return kind !== "create" && !(kind === "rename" && hunks.length === 0 && this.#mode === undefined);
  }

  /** Its line in the answer. */
  summary(): string {
    const { kind, added, removed } = this.#patch;
    switch (kind) {
      case "modify":
        return `M ${this.path.given} (+${added} -${removed})`;
      case "create":
      case "copy":
        return `A ${this.#to.given}`;
      case "delete":
        return `D ${this.path.given}`;
      case "rename":
        return `R ${this.path.given} -> ${this.#to.given}`;
    }
  }

  async changes(bytes: Buffer | undefined): Promise<Change[]> {
    const { path, isRead } = this;
    const to = this.#to;
    const { kind } = this.#patch;
    if (kind === "create") {
      return [this.#write(path, await encode(path.given, createdContent(this.#patch)), "absent")];
    }
    if (!isRead) return [{ kind: "move", from: path, to }];
    if (bytes === undefined) throw new Fault("not_found", { path: path.given });
    const patched = await this.#patched(bytes);
    switch (kind) {
      case "modify":
        return [this.#write(path, patched)];
      case "delete":
        return [{ kind: "remove", path }];
      case "copy":
        return [this.#write(to, patched, "absent")];
      case "rename":
        // A move keeps the mode; where that is to change, the file is written anew.
        return this.#mode === undefined
          ? [{ kind: "move", from: path, to, bytes: patched }]
          : [this.#write(to, patched, "absent"), { kind: "remove", path }];
    }
  }

  /** The bytes that a file has after the hunks. One without hunks is not looked into, but a deleted one is empty then. */
  async #patched(bytes: Buffer): Promise<Buffer> {
    if (this.#patch.hunks.length === 0 && this.#patch.kind !== "delete") return bytes;
    return applyFilePatch(await editableTextOf(this.path.given, bytes), this.#patch).text.bytes;
  }

  #write(path: WorkspacePath, bytes: Buffer, expect?: "absent"): Change {
    const mode = this.#mode;
    return { kind: "write", path, bytes, ...(expect && { expect }), ...(mode !== undefined && { mode }) };
  }

  /** The mode that the file is to get, if that is another. */
  #inspect(patch: FilePatch, { workspace, settings }: CallContext): number | undefined {
    const { given } = this.path;
    using file = workspace.file(this.path);
    if (workspace.lstat(this.path).kind === "symlink") throw new Fault("is_a_link", { path: given });
    const limit = settings.maxFileBytes;
    const isMoved = patch.kind === "rename" && patch.hunks.length === 0;
    if (!isMoved && file.size > limit) {
      throw new Fault("too_large", { path: given, size: file.size, limit });
    }
    const mode = newMode(patch, file.stat.mode);
    return mode === file.stat.mode ? undefined : mode;
  }
}

function newMode({ executable }: FilePatch, mode: number): number | undefined {
  if (executable === undefined) return undefined;
  // Who may read it may run it.
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}
