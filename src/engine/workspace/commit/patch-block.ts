// One file of a patch: what has to be read for it, and the resulting changes.
import { applyFilePatch } from "../../edit/hunks.ts";
import type { HunkPosition } from "../../edit/locate.ts";
import type { FilePatch } from "../../edit/notation/file-patch.ts";
import { createdContent } from "../../edit/patch.ts";
import { Fault } from "../../fault.ts";
import { encode, type Text } from "../../text/text.ts";
import type { WorkspacePath } from "../path.ts";
import type { Workspace } from "../workspace.ts";
import type { Change } from "./change.ts";
import { isBusyOpen, retryWhileBusy } from "./retry-busy-file.ts";

export interface PatchOptions {
  readonly workspace: Workspace;
  /** The path that the patch names. */
  at(path: string): WorkspacePath;
  /** The bytes of a file as text, or a refusal. */
  textOf(path: string, bytes: Buffer): Promise<Text>;
  /** Larger files are refused, unless they are only renamed. */
  readonly maxBytes: number;
  /** How lines of created files end: as those of the patch, or with "\n", which is the default. */
  readonly createdEnding?: "patch" | "\n";
  /** Whether symbolic links are refused, or what they lead to is patched. */
  readonly links: "refuse" | "follow";
}

export class PatchBlock {
  readonly patch: FilePatch;
  readonly #options: PatchOptions;
  /** What is read, or made. */
  readonly path: WorkspacePath;
  /** The new place of what is renamed or copied; else the same. */
  readonly to: WorkspacePath;
  /** The new mode, where the patch changes it. */
  readonly #mode: number | undefined;
  #positions: readonly HunkPosition[] = [];

  /** Refuses what cannot be patched at all: no file, too large, a link. */
  constructor(patch: FilePatch, options: PatchOptions) {
    this.patch = patch;
    this.#options = options;
    this.path = options.at(patch.path);
    this.to = patch.to === undefined ? this.path : options.at(patch.to);
    this.#mode = patch.kind !== "create" ? this.#inspect() : patch.executable ? 0o755 : undefined;
  }

  /** A pure rename moves the bytes, whatever they are; everything else has to see them. */
  get isRead(): boolean {
    const { kind, hunks } = this.patch;
    return kind !== "create" && !(kind === "rename" && hunks.length === 0 && this.#mode === undefined);
  }

  /** Where its hunks went, in the file that `changes` was called with last. */
  get positions(): readonly HunkPosition[] {
    return this.#positions;
  }

  /** `bytes` are those of the file, where it is read and there. */
  async changes(bytes: Buffer | undefined): Promise<Change[]> {
    const { path, to } = this;
    const { kind } = this.patch;
    if (kind === "create") {
      return [
        this.#write(
          path,
          await encode(path.given, createdContent(this.patch, this.#options.createdEnding)),
          "absent",
        ),
      ];
    }
    if (!this.isRead) return [{ kind: "move", from: path, to }];
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
        // A move keeps the mode; if that is to change, the file is rewritten.
        return this.#mode === undefined
          ? [{ kind: "move", from: path, to, bytes: patched }]
          : [this.#write(to, patched, "absent"), { kind: "remove", path }];
    }
  }

  /** The bytes that a file has after the hunks. One without hunks is not looked into, but a deleted one is empty then. */
  async #patched(bytes: Buffer): Promise<Buffer> {
    const { hunks, kind, checkRemoved } = this.patch;
    if (hunks.length === 0 && !(kind === "delete" && checkRemoved)) return bytes;
    const { text, positions } = applyFilePatch(
      await this.#options.textOf(this.path.given, bytes),
      this.patch,
    );
    this.#positions = positions;
    return text.bytes;
  }

  #write(path: WorkspacePath, bytes: Buffer, expect?: "absent"): Change {
    const mode = this.#mode;
    return { kind: "write", path, bytes, ...(expect && { expect }), ...(mode !== undefined && { mode }) };
  }

  /** The mode that the file is to get, if that is another. */
  #inspect(): number | undefined {
    const { workspace, maxBytes: limit, links } = this.#options;
    const { kind, hunks } = this.patch;
    const { given } = this.path;
    using file = workspace.file(this.path);
    if (links === "refuse" && workspace.lstat(this.path).kind === "symlink")
      throw new Fault("is_a_link", { path: given });
    const isMoved = kind === "rename" && hunks.length === 0;
    if (!isMoved && file.size > limit) throw new Fault("too_large", { path: given, size: file.size, limit });
    const mode = newMode(this.patch, file.stat.mode);
    return mode === file.stat.mode ? undefined : mode;
  }
}

/** The blocks of a patch. Waits for files that other programs have open. */
export async function patchBlocks(
  patches: readonly FilePatch[],
  options: PatchOptions,
): Promise<PatchBlock[]> {
  const blocks: PatchBlock[] = [];
  for (const patch of patches)
    blocks.push(await retryWhileBusy("", () => new PatchBlock(patch, options), isBusyOpen));
  return blocks;
}

/** Changes for all of them from the files as they are: all or nothing. */
export async function patchChanges(
  blocks: readonly PatchBlock[],
  files: readonly { readonly path: WorkspacePath; readonly bytes: Buffer | undefined }[],
): Promise<Change[]> {
  const contents = new Map(files.map(({ path, bytes }) => [path, bytes]));
  const changes = await Promise.all(blocks.map(block => block.changes(contents.get(block.path))));
  return changes.flat();
}

function newMode({ executable }: FilePatch, mode: number): number | undefined {
  if (executable === undefined) return undefined;
  // Executable for every class of user that may read it.
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}
