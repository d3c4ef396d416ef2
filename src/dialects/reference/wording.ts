// Failures in the words of the server that this one replaces. It passes on Node's message about a failed system call,
// so prompts and programs look for `ENOENT` and the like; the call is the one that it would have made. Other failures
// are explicitly.
import { plainWording, sayIssue, type Wording } from "../../contract/wording.ts";
import { isWithin } from "../../engine/workspace/root.ts";

/** "read" is an `open` to read from. */
export type SystemCall = "read" | "open" | "scandir" | "stat" | "mkdir" | "rename";

interface SystemCallContext {
  readonly call: SystemCall;
  readonly allowed: readonly string[];
}

export function wordingFor({ call, allowed }: SystemCallContext): Wording {
  const denied = (path: string) => {
    const reached = allowed.some(directory => isWithin(path, directory));
    const what = reached ? "symlink target" : "path";
    return `Access denied - ${what} outside allowed directories: ${path} not in ${allowed.join(", ")}`;
  };
  const system =
    (problem: string, named: string = call === "read" ? "open" : call) =>
    ({ path }: { readonly path: string }) =>
      `${problem}, ${named} '${path}'`;
  const isDirectory = "EISDIR: illegal operation on a directory";
  const missing = system("ENOENT: no such file or directory");
  return {
    ...plainWording,
    unknown_tool: ({ name }) => `MCP error -32602: Tool ${name} not found`,
    invalid_params: ({ issues }) => issues.map(sayIssue).join("\n"),
    outside_roots: ({ path }) => denied(path),
    read_only: data =>
      data.fileSystem
        ? system("EROFS: read-only file system")(data)
        : `Access denied - read-only directory: ${data.path}`,
    invalid_path: ({ path, reason }) => {
      if (reason === "symlink_loop")
        return system("ELOOP: too many symbolic links encountered", "realpath")({ path });
      if (reason === "too_long") return system("ENAMETOOLONG: name too long", "realpath")({ path });
      return `Access denied - path outside allowed directories: ${path} not in ${allowed.join(", ")}`;
    },
    not_found: missing,
    parent_not_found: missing,
    exists: data =>
      call === "rename"
        ? `Destination already exists: ${data.path}`
        : system("EEXIST: file already exists")(data),
    not_a_directory: data =>
      system("ENOTDIR: not a directory", call === "scandir" ? "scandir" : "realpath")(data),
    not_a_file: ({ path, kind }) => {
      if (kind !== "directory") return `Not a regular file (${kind}): ${path}`;
      return call === "read" ? `${isDirectory}, read` : system(isDirectory)({ path });
    },
    protected_root: ({ path }) =>
      call === "rename" ? `An allowed directory cannot be moved: ${path}` : system(isDirectory)({ path }),
    permission_denied: system("EACCES: permission denied"),
    no_space: system("ENOSPC: no space left on device"),
    too_many_open_files: system("EMFILE: too many open files"),
    busy: system("EBUSY: resource busy or locked"),
    io: ({ path, errno, call: failed }) => `${errno}: input/output error, ${failed} '${path}'`,
    too_large: ({ path, size, limit }) =>
      `File too large: ${path} has ${size} bytes; the limit for reading or editing at once is ${limit} ` +
      "(--max-file-bytes). Read a part of it with head or tail.",
    no_match: ({ old }) => `Could not find exact match for edit:\n${old}`,
    ambiguous: ({ count, lines, old }) =>
      `Found ${count} matches for edit (lines ${lines.join(", ")}); which one is meant is not clear. ` +
      `Add surrounding lines to oldText until it occurs only once:\n${old}`,
  };
}
