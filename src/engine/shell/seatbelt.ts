// macOS: runs a command under `sandbox-exec`, with a profile that lists what is allowed. Written from the system's
// own profiles and NOT TESTED on a Mac yet. There is no process namespace and no limit per command; the process group
// and the shell provide those.
import { dirname } from "node:path";
import { type CommandRoots, isChangeable } from "../workspace/restricted.ts";
import { type RestrictedPath, restrictedPaths } from "../workspace/restricted-paths.ts";
import { isWithin } from "../workspace/root.ts";
import type { Sandbox } from "./launch.ts";
import { type CommandLimits, defaultLimits, shellWithLimits } from "./limits.ts";
import type { SandboxFound, SandboxMissing, SandboxPolicy } from "./policy.ts";
import { startProcess } from "./process.ts";
import { nodeDirectories } from "./system-directories.ts";

const program = "/usr/bin/sandbox-exec";

const readable: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/opt", "/System", "/Library/Apple", "/Library/Developer", "/private/etc/ssl"],
  ...["/Applications/Xcode.app", "/private/var/db/timezone", "/private/var/db/dyld", "/private/var/select"],
  ...[
    "/dev",
    "/private/etc/hosts",
    "/private/etc/passwd",
    "/private/etc/resolv.conf",
    "/private/etc/localtime",
  ],
];

/** Tries the profile that commands get, and the shell that starts them. `at` is where the program is. */
export async function findSeatbelt(at = program): Promise<SandboxFound | SandboxMissing> {
  const missing = { missing: "sandbox-exec does not work here", install: "it is a part of macOS" };
  try {
    const probe = await startProcess(
      at,
      argumentsFor("exit 0", { ...nothing, network: false }, defaultLimits),
      {
        cwd: "/",
        env: {},
      },
    );
    for await (const _ of probe.output);
    if ((await probe.exit).code !== 0) return missing;
  } catch {
    return missing;
  }
  return {
    kind: "seatbelt",
    version: "1",
    program: at,
    bindsHandles: false,
    forbidsNamespaces: false,
    holdsProcesses: "user limit",
  };
}

type ProfilePolicy = Pick<SandboxPolicy, "network" | "readable" | "hidden"> & {
  readonly workspace: CommandRoots;
};

const nothing = { workspace: { roots: [], isFreeForCommands: () => false } };

function argumentsFor(command: string, policy: ProfilePolicy, limits: CommandLimits): readonly string[] {
  return ["-p", profileOf(policy), ...shellWithLimits(command, limits)];
}

export function openSeatbelt(found: SandboxFound, policy: SandboxPolicy): Sandbox {
  const limits = { ...defaultLimits, ...policy.limits };
  return {
    launch(command, _directory, environment) {
      const announced = policy.workspace.announceSandbox();
      const release = () => announced?.[Symbol.dispose]();
      try {
        // Anew for each command: which paths the rules concern changes with the tree.
        const args = argumentsFor(command, policy, limits);
        return { program: found.program, args, environment, release };
      } catch (error) {
        release();
        throw error;
      }
    },
  };
}

/** Later rules win: inner roots come after outer ones, then the policy for their parts, secrets last. */
export function profileOf({ workspace, network, readable: more = [], hidden }: ProfilePolicy): string {
  const scratch = ["/private/tmp", "/private/var/folders"];
  const secrets = hidden?.paths ?? [];
  const roots = workspace.roots.map(root => root.path);
  const writes = workspace.roots
    .toSorted((a, b) => a.path.length - b.path.length)
    .map(root => `(${isChangeable(workspace, root) ? "allow" : "deny"} file-write* ${subpath(root.path)})`);
  const restricted = restrictedPaths(workspace);
  const kept = workspace.roots.filter(root => root.access === "read-only").map(root => root.path);
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork process-exec)", // a target is not a filter of these, and would make the profile invalid
    "(allow process-info* (target same-sandbox))",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read mach-lookup ipc-posix-shm* ipc-posix-sem*)",
    "(allow file-read-metadata)",
    // The loader looks at the root itself.
    allow("file-read*", [...readable, ...nodeDirectories(), ...more, ...scratch, ...roots], '(literal "/")'),
    allow("file-write*", scratch),
    ...writes,
    ...restricted.map(lineFor),
    ...heldInPlace([...kept, ...secrets, ...restricted.map(({ path }) => path)], roots),
    '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    network ? "(allow network*)" : "(deny network*)",
    ...(secrets.length === 0 ? [] : [`(deny file-read* file-write* ${secrets.map(subpath).join(" ")})`]),
  ].join("\n");
}

/** A masked text cannot replace a file here, so a masked file cannot be read. */
function lineFor({ path, seen }: RestrictedPath): string {
  if (seen === "nothing") return `(deny file-read* file-write* ${subpath(path)})`;
  return `(${seen === "read-write" ? "allow" : "deny"} file-write* ${subpath(path)})`;
}

/** Directories above a protected path must not be renamed: a rule works by path. */
function heldInPlace(paths: readonly string[], roots: readonly string[]): string[] {
  const above = new Set<string>();
  for (const path of paths) {
    for (let at = dirname(path); roots.some(root => at !== root && isWithin(at, root)); at = dirname(at))
      above.add(at);
  }
  const literals = [...above].map(path => `(literal ${quoted(path)})`);
  return literals.length === 0 ? [] : [`(deny file-write-unlink ${literals.join(" ")})`];
}

function allow(what: string, paths: readonly string[], ...more: readonly string[]): string {
  return `(allow ${what} ${[...paths.map(subpath), ...more].join(" ")})`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(path: string): string {
  return `"${path.replace(/[\\"]/g, "\\$&")}"`;
}
