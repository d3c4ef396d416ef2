// Linux: a command in namespaces of its own, made by bubblewrap. It sees the roots where they are, the system's
// programs, an empty home and /tmp, its own processes, and no network. What must hold, and why:
// - bubblewrap starts with an empty environment: what it has could be read in /proc/1/environ.
// - /proc, /dev and / are read-only: for a server that runs as root, /proc/sys would be the machine's own, and
//   the name of a program that the kernel runs outside (core_pattern) stands there.
// - Roots are handed over as the handles that are held, where bubblewrap can take them, and not by path.
import { randomBytes } from "node:crypto";
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { display } from "../workspace/handle.ts";
import type { Root } from "../workspace/root.ts";
import { makeControlGroup } from "../workspace/system/control-group.ts";
import { freeSpace } from "../workspace/system/free-space.ts";
import { systemLink } from "../workspace/system/system-link.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { Environment } from "./environment.ts";
import { gitConfiguration } from "./git-identity.ts";
import type { Launch, Sandbox } from "./launch.ts";
import { defaultLimits, type Limits, shellWithLimits } from "./limits.ts";
import type { SandboxFound, SandboxPolicy } from "./policy.ts";
import { networkFiles, nodeDirectories, systemDirectories, systemFiles } from "./system-directories.ts";

/** The private home directory. Not below /home, which may be a root. */
const home = "/run/home";

/** Descriptors of a launch: 3 is where bubblewrap tells how the command ended, the roots follow. */
const statusDescriptor = 3;

export function openBubblewrap(found: SandboxFound, policy: SandboxPolicy): Sandbox {
  if (policy.workspace.roots.some(root => root.path === "/"))
    throw new Fault("no_sandbox", {
      reason: "the whole disk is granted, so there is nothing to keep from it",
    });
  const limits = { ...defaultLimits, ...policy.limits };
  const settings = gitConfiguration(policy.identity ?? {});
  const seen = machine(policy, limits);
  return {
    launch(command, directory, environment, leftovers): Launch {
      const roots = [...policy.workspace.roots].sort((a, b) => a.path.length - b.path.length);
      const args = [
        ...namespaces(found, policy.network),
        // A process in the background that is to stay must not end with the shell's guard.
        ...(leftovers === "keep" ? [] : ["--die-with-parent"]),
        ...seen,
        ...roots.flatMap((root, i) => bind(root, found.bindsHandles ? statusDescriptor + 1 + i : undefined)),
        ...(policy.hidden ?? []).flatMap(path => hide(policy.workspace, path)),
        ...["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"],
        ...["--chdir", placeInside(directory), "--json-status-fd", String(statusDescriptor)],
        ...variables({ ...environment, HOME: home, TMPDIR: "/tmp" }),
        "--",
        ...shellWithLimits(command, limits, `printf %s ${singleQuoted(settings)} > ~/.gitconfig`),
      ];
      const group = makeControlGroup(randomBytes(6).toString("hex"), limits);
      const descriptors = found.bindsHandles ? roots.map(root => root.handle.fd) : [];
      const isExhausted = spaceWatch(roots, limits);
      const shared = { environment: {}, descriptors, warden: true, isExhausted };
      if (group === undefined) return { program: found.program, args, ...shared };
      // The guard joins before it starts anything, so nothing is ever outside.
      const join = ["-c", 'echo $$ > "$0" && exec "$@"', group.members, found.program, ...args];
      return { program: "/bin/sh", args: join, ...shared, release: () => group.remove() };
    },
  };
}

function namespaces(found: SandboxFound, network: boolean): string[] {
  return [
    "--unshare-all",
    ...(network ? ["--share-net"] : []),
    ...(found.forbidsNamespaces ? ["--unshare-user", "--disable-userns"] : []),
    ...["--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"],
  ];
}

/** All of the machine that is to be seen, the roots not among it. */
function machine(policy: SandboxPolicy, { scratchBytes }: Limits): string[] {
  const files = policy.network ? [...systemFiles, ...networkFiles] : systemFiles;
  const size = scratchBytes === Number.POSITIVE_INFINITY ? [] : ["--size", String(scratchBytes)];
  const scratch = (path: string) => [...size, "--tmpfs", path];
  return [
    ...systemDirectories.flatMap(readOnly),
    ...[...files, ...nodeDirectories(), ...(policy.readable ?? [])].flatMap(show),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["/dev/shm", "/tmp", home].flatMap(scratch),
    ...["--symlink", "../tmp", "/var/tmp"],
  ];
}

function show(path: string): string[] {
  return ["--ro-bind-try", path, path];
}

/** A link into another of them stays one. */
function readOnly(path: (typeof systemDirectories)[number]): string[] {
  const target = systemLink(path);
  return target === undefined ? show(path) : ["--symlink", target, path];
}

function bind({ access, path, handle }: Root, descriptor: number | undefined): string[] {
  const option = access === "read-write" ? "--bind" : "--ro-bind";
  return descriptor === undefined
    ? [option, display(handle.whereabouts()), path]
    : [`${option}-fd`, String(descriptor), path];
}

/** A root is always where it was granted, also where it was moved meanwhile; what lies in it follows. */
function placeInside({ path, root }: Directory): string {
  return root.path + path.slice(display(root.handle.whereabouts()).length);
}

/** Covers what must not be seen, where a root holds it: a directory by an empty one, a file by an empty one. */
function hide(workspace: Workspace, path: string): string[] {
  try {
    const at = workspace.at(path);
    const real = workspace.locate(at).path;
    return workspace.stat(at).kind === "directory"
      ? ["--perms", "0500", "--tmpfs", real, "--remount-ro", real]
      : ["--ro-bind", "/dev/null", real];
  } catch {
    return []; // not there, or in no root
  }
}

/** Asks whether the disks of the roots are nearly full. A disk that was so before may be used by half of the rest. */
function spaceWatch(roots: readonly Root[], { reserveBytes }: Limits): () => boolean {
  const writable = roots.filter(root => root.access === "read-write");
  const reserve = Math.min(reserveBytes, freeSpace(writable) / 2);
  return () => freeSpace(writable) < reserve;
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function variables(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]);
}
