// Whether a held object is in a mount of our own namespace (Linux).
//
// A path does not show it: an object reached through `/proc/PID/root` is in a mount of another namespace, and its path
// is the path in that namespace.
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join, relative } from "node:path";
import type { Handle } from "../handle.ts";
import { written } from "../name.ts";

const room = Buffer.allocUnsafe(512);

/** The number of the mount. Undefined if the system does not report it. */
export function mountOf({ fd }: Handle): number | undefined {
  if (fd < 0) return undefined;
  const info = openSync(`/proc/self/fdinfo/${fd}`, "r");
  try {
    const text = room.toString("latin1", 0, readSync(info, room, 0, room.length, 0));
    const at = text.indexOf("mnt_id:");
    return at < 0 ? undefined : Number.parseInt(text.slice(at + 7), 10);
  } finally {
    closeSync(info);
  }
}

/**
 * Whether a handle is in a mount that we can see. Mount ids are reused, so only the id of a held mount, such as the
 * root's, can be cached: others are looked up each time.
 */
export function isOwnMount(handle: Handle, held: { readonly mount: number | undefined }): boolean {
  const mount = mountOf(handle);
  if (mount === undefined) return false;
  return mount === held.mount || mountsOfOurs().has(mount);
}

function mountsOfOurs(): Set<number> {
  return new Set(mountLines().map(line => Number.parseInt(line, 10)));
}

/** A path inside a file system, whatever it is mounted under. */
export interface InnerPath {
  /** `major:minor` */
  readonly device: string;
  readonly path: string;
}

/**
 * The path of a held object inside its file system: two mounts of one directory have different paths, and the same
 * inner one. Undefined if the system does not report it.
 */
export function innerPathOf(handle: Handle): InnerPath | undefined {
  try {
    const mount = mountOf(handle);
    const line = mountLines().find(one => Number.parseInt(one, 10) === mount);
    const [, , device, top, point] = line?.split(" ") ?? [];
    if (device === undefined || top === undefined || point === undefined) return undefined;
    const below = relative(unescaped(point), handle.whereabouts());
    if (below === ".." || below.startsWith("../")) return undefined;
    return { device, path: join(unescaped(top), below) };
  } catch {
    return undefined;
  }
}

/**
 * Whether the paths of two held objects show whether one contains the other: no file system shows one within the other
 * by another path. False where that is unknown. The list of mounts is as long as the machine has forks and containers,
 * so it is asked only where this cannot tell.
 */
export function areApart(one: Handle, other: Handle): boolean {
  const [a, b] = [one.stat().dev, other.stat().dev];
  // A file system on a disk gives its files the number of the disk. Others may have several numbers, as btrfs does.
  if (a !== b) return isDisk(a) || isDisk(b);
  const mount = mountOf(one);
  return mount !== undefined && mount === mountOf(other);
}

/** Of a device number: whether its major part is not zero, which stands for no device. */
export function isDisk(device: number): boolean {
  return Math.floor(device / 256) % 4096 !== 0 || device >= 2 ** 44;
}

/** File systems that show processes, devices or the kernel. Each mount may be one of its own, so no second view. */
const kernelViews = new Set([
  ...[
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "cgroup",
    "cgroup2",
    "securityfs",
    "debugfs",
    "tracefs",
  ],
  ...["configfs", "fusectl", "bpf", "pstore", "efivarfs", "binfmt_misc", "rpc_pipefs", "nsfs"],
]);

/**
 * The path from a held directory to something that is mounted in it, on a directory or a file, also by another path to
 * the same directory. Undefined if there is none, or if the system does not report it.
 */
export function mountPointBelow(directory: Handle): string | undefined {
  const own = innerPathOf(directory);
  if (own === undefined) return undefined;
  const mounts = new Map(mountLines().map(line => [line.split(" ", 1)[0], line.split(" ")]));
  for (const [, above = "", , , point = ""] of mounts.values()) {
    const [, , device, top, at] = mounts.get(above) ?? [];
    if (device !== own.device || top === undefined || at === undefined) continue;
    const path = join(unescaped(top), relative(unescaped(at), unescaped(point)));
    if (path !== own.path && isBelow(path, own.path))
      return written(Buffer.from(relative(own.path, path), "latin1"));
  }
  return undefined;
}

/**
 * Mount points below these directories that show what is not a part of them: something of the disk which another mount
 * shows too, such as a bind mount, or the system itself, such as the `/proc` of a chroot. A disk that is mounted there
 * and nowhere else is a part of them.
 */
export function foreignMountsBelow(directories: readonly string[]): string[] {
  const mounts = mountLines().flatMap(line => {
    const [, , device, top, point] = line.split(" ");
    const type = / - (\S+)/.exec(line)?.[1];
    if (device === undefined || top === undefined || point === undefined || type === undefined) return [];
    return [{ device, top: unescaped(top), point: unescaped(point), type }];
  });
  const below = mounts.filter(({ point }) => directories.some(one => point !== one && isBelow(point, one)));
  const foreign = below.filter(
    one =>
      kernelViews.has(one.type) ||
      mounts.some(
        other =>
          other !== one &&
          other.device === one.device &&
          (isBelow(one.top, other.top) || isBelow(other.top, one.top)),
      ),
  );
  return [...new Set(foreign.map(({ point }) => Buffer.from(point, "latin1").toString()))];
}

/** Also for the directory itself. */
function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

function mountLines(): string[] {
  return readFileSync("/proc/self/mountinfo", "latin1").split("\n");
}

/** Blanks, tabs, line breaks and backslashes are written in octal there. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}
