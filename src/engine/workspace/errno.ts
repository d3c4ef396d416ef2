// Maps the operating system's error numbers to faults, in one place, so that the same failure is reported the same
// way everywhere and no raw `ENOENT: …, open '/proc/self/fd/…'` reaches a caller.
import { constants } from "node:os";
import { Fault } from "../fault.ts";
import { isRefusedForPrivacy } from "./system/privacy.ts";
import { onWindows } from "./windows-path.ts";

/** Replaces the path in faults about the state directory: callers must not learn where it is. */
export const stateDirectory = "polyfs's state directory";

export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, errno } = error as NodeJS.ErrnoException;
  if (typeof code !== "string") return undefined; // an abort has a number
  const isUnnamed = code === "UNKNOWN" || code.startsWith("Unknown system error");
  return isUnnamed ? (nameOf(errno) ?? code) : code;
}

/** libuv has no names for some errors that file systems return: EDQUOT (a quota is used up), ESTALE. */
function nameOf(errno: number | undefined): string | undefined {
  if (onWindows || errno === undefined) return undefined;
  return Object.entries(constants.errno).find(([, number]) => number === -errno)?.[0];
}

/** What the system says when something cannot be written, in words. */
const words: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the file system is mounted read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
};

/** The words for an error number, or its name where there are none. */
export function errnoWords(errno: string): string {
  return words[errno] ?? errno;
}

const shortages = new Set<string | undefined>(["EMFILE", "ENFILE", "ENOMEM", "EAGAIN"]);

/** Whether the process or the machine is short of something just now: the next try may succeed. */
export function isShortage(error: unknown): boolean {
  return shortages.has(errnoOf(error)) || Fault.is(error, "too_many_open_files");
}

/** Whether an error says that there is nothing: no such name, or something on the way that is not a directory. */
export function isAbsence(error: unknown): boolean {
  return (
    ["ENOENT", "ENOTDIR", "ESRCH"].includes(errnoOf(error) ?? "") ||
    Fault.is(error, "not_found") ||
    Fault.is(error, "not_a_directory")
  );
}

/**
 * Whether an error says what is there: nothing, or something that this user may not look at. Every other error leaves
 * the question open, as when this process has run out of descriptors. It never means "absent", "empty", "unchanged",
 * "finished" or "dead": the caller must fail or assume the worst.
 */
export function isAnswer(error: unknown): boolean {
  const errno = errnoOf(error);
  return isAbsence(error) || errno === "EACCES" || errno === "EPERM" || Fault.is(error, "permission_denied");
}

/** Whether a question has no answer, by its error or fault. */
export function isUnanswered(error: unknown): boolean {
  const fault = faultOf(error, "");
  return Fault.is(fault, "io") || Fault.is(fault, "busy") || isShortage(fault);
}

/** The result of an action; undefined if it throws. */
export function unlessFailing<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** What an action finds; undefined if there is nothing. Throws where that is not known. */
export function ifThere<T>(action: () => T): T | undefined {
  return unless(isAbsence, action);
}

/** The same; undefined also if this user may not look. */
export function ifAllowed<T>(action: () => T): T | undefined {
  return unless(isAnswer, action);
}

function unless<T>(isNothing: (error: unknown) => boolean, action: () => T): T | undefined {
  try {
    return action();
  } catch (error) {
    if (isNothing(error)) return undefined;
    throw error;
  }
}

/** Whether a disk is full, or a quota used up: the next try may succeed once someone has made room. */
export function isWithoutRoom(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === "ENOSPC" || errno === "EDQUOT" || Fault.is(error, "no_space");
}

/** The fault for a failed system call on `path`. Faults and foreign errors pass through. */
export function faultOf(error: unknown, path: string): unknown {
  const errno = errnoOf(error);
  if (error instanceof Fault || errno === undefined) return error;
  const cause = { cause: error };
  switch (errno) {
    case "ENOENT":
      return new Fault("not_found", { path }, cause);
    case "ENOTDIR":
      return new Fault("not_a_directory", { path }, cause);
    case "EISDIR":
      return new Fault("not_a_file", { path, kind: "directory" }, cause);
    case "EEXIST":
      return new Fault("exists", { path }, cause);
    case "ENOTEMPTY":
      return new Fault("not_empty", { path }, cause);
    case "EACCES":
    case "EPERM":
      return new Fault(
        "permission_denied",
        { path, ...(isRefusedForPrivacy(errno) && { privacy: true }) },
        cause,
      );
    case "EROFS":
      return new Fault("read_only", { path, fileSystem: true }, cause);
    case "ELOOP":
      return new Fault("invalid_path", { path, reason: "symlink_loop" }, cause);
    case "EILSEQ":
      return new Fault("invalid_path", { path, reason: "not_utf8" }, cause);
    case "ENAMETOOLONG":
      return new Fault("invalid_path", { path, reason: "too_long" }, cause);
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new Fault("no_space", { path }, cause);
    case "EMFILE":
    case "ENFILE":
      return new Fault("too_many_open_files", { path }, cause);
    case "EBUSY":
      // On Windows a sharing violation: another program has the file open.
      return new Fault(onWindows ? "locked" : "busy", { path }, cause);
    default:
      return unforeseen(error, errno, path);
  }
}

function unforeseen(error: unknown, errno: string, path: string): Fault {
  const call = (error as NodeJS.ErrnoException).syscall ?? "";
  return new Fault("io", { path, errno, call }, { cause: error });
}

/** Runs `action`, and turns system errors into faults about `path`. */
export function system<T>(path: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw faultOf(error, path);
  }
}
