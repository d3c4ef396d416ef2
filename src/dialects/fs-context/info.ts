// The attributes of a file or directory, without reading it.
import type { CallContext } from "../../contract/context.ts";
import { mimeType } from "../../engine/text/mime.ts";
import { humanSize } from "../../engine/text/size.ts";
import { nativeForm } from "../../engine/workspace/windows-path.ts";
import { type EntryType, entryTypes, typeOf } from "./listing.ts";
import { pathOf } from "./paths.ts";

export interface Info {
  readonly name: string;
  readonly path: string;
  readonly type: EntryType;
  readonly size: number;
  readonly created: string;
  readonly modified: string;
  readonly accessed: string;
  readonly permissions: string;
  readonly isHidden: boolean;
  readonly mimeType?: string;
  readonly symlinkTarget?: string;
}

export const infoSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    path: { type: "string", description: "Absolute." },
    type: { type: "string", enum: entryTypes },
    size: { type: "integer", description: "In bytes." },
    created: { type: "string" },
    modified: { type: "string" },
    accessed: { type: "string" },
    permissions: { type: "string", description: "As in rw-r--r--." },
    isHidden: { type: "boolean" },
    mimeType: { type: "string", description: "By the file's name." },
    symlinkTarget: { type: "string" },
  },
  required: ["name", "path", "type", "size"],
} as const;

/** For a link, its own name and target; the rest is about the target, if it is in the allowed directories. */
export function infoOf(written: string, call: CallContext, { mime }: { readonly mime: boolean }): Info {
  const path = pathOf(written, call);
  const stat = call.workspace.stat(path);
  const own = call.workspace.lstat(path);
  const name = path.isRoot ? path.absolute.slice(path.absolute.lastIndexOf("/") + 1) : path.name;
  return {
    name,
    path: nativeForm(path.absolute),
    type: typeOf(own.kind),
    size: stat.size,
    created: stat.created.toISOString(),
    modified: stat.modified.toISOString(),
    accessed: stat.accessed.toISOString(),
    permissions: permissions(stat.mode),
    isHidden: name.startsWith("."),
    ...(mime && stat.kind === "file" && { mimeType: typeNamed(own.target ?? name) }),
    ...(own.target !== undefined && { symlinkTarget: own.target }),
  };
}

export function describeInfo(info: Info): string {
  const rows: [string, string | undefined][] = [
    ["Name", info.name],
    ["Path", info.path],
    ["Type", info.type],
    ["Size", humanSize(info.size)],
    ["Created", info.created],
    ["Modified", info.modified],
    ["Accessed", info.accessed],
    ["Permissions", info.permissions],
    ["Hidden", info.isHidden ? "yes" : "no"],
    ["MIME Type", info.mimeType],
    ["Symlink Target", info.symlinkTarget],
  ];
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`])).join("\n");
}

function typeNamed(name: string): string {
  return mimeType(name) ?? "application/octet-stream";
}

function permissions(mode: number): string {
  return [..."rwx".repeat(3)].map((letter, i) => (mode & (0o400 >> i) ? letter : "-")).join("");
}
