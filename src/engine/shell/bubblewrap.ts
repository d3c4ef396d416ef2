// Linux: runs a command in its own namespaces, made by bubblewrap. It sees the roots at their paths, the system's
// programs, an empty home and /tmp, its own processes, and no network. Constraints:
// - bubblewrap starts with an empty environment: /proc/1/environ would expose it.
// - /proc, /dev and / are read-only: for a server that runs as root, /proc/sys would be the machine's own, with
//   the name of a program that the kernel runs outside (core_pattern).
// - Roots are passed as held handles where bubblewrap supports that, not by path; read-only and hidden paths
//   in them stay so when directories are renamed (mount-plan.ts).
// - A seccomp filter closes what namespaces leave open (seccomp.ts).
import { randomBytes } from "node:crypto";
import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import { sys } from "../workspace/disk/syscalls.ts";
import { display, Handle } from "../workspace/handle.ts";
import { reserveIn } from "../workspace/reserved.ts";
import { type Restricted, restrictedIn } from "../workspace/restricted.ts";
import type { Root } from "../workspace/root.ts";
import { makeControlGroup } from "../workspace/system/control-group.ts";
import { freeSpace } from "../workspace/system/free-space.ts";
import { foreignMountsBelow } from "../workspace/system/mounts.ts";
import { systemLink } from "../workspace/system/system-link.ts";
import { UnnamedFile } from "../workspace/system/unnamed-file.ts";
import type { Environment } from "./environment.ts";
import { gitConfiguration } from "./git-identity.ts";
import type { CommandLaunch, Sandbox } from "./launch.ts";
import { type CommandLimits, defaultLimits, shellWithLimits } from "./limits.ts";
import { type Cover, type Mount, MountPlan } from "./mount-plan.ts";
import type { SandboxFound, SandboxPolicy } from "./policy.ts";
import { callFilter } from "./seccomp.ts";
import { singleQuoted } from "./single-quoted.ts";
import { networkFiles, nodeDirectories, systemDirectories, systemFiles } from "./system-directories.ts";

/** The private home directory. Not below /home, which may be a root. */
const home = "/run/home";

/** Descriptors of a launch: bubblewrap reports the exit on 3; the ones it is given follow. */
const statusDescriptor = 3;

/** bubblewrap refuses to start with more, also if it reads them from a file. */
const mostArguments = 9000;
/** For one path. */
const fewestArguments = 3;

export function openBubblewrap(found: SandboxFound, policy: SandboxPolicy): Sandbox {
  if (policy.workspace.roots.some(root => root.path === "/"))
    throw new Fault("no_sandbox", { problem: { is: "whole_disk" } });
  const limits = { ...defaultLimits, ...policy.limits };
  const settings = gitConfiguration(policy.identity ?? {});
  const seen = machine(policy, limits);
  const filter = callFilter({
    setGroupId: process.getuid?.() !== 0,
    unixSockets: !policy.network,
  });
  return {
    async launch(command, directory, environment, leftovers): Promise<CommandLaunch> {
      // First: what is checked now must stay as it is.
      const announced = policy.workspace.announceSandbox(policy.hidden?.places());
      const restricted: Restricted[] = [];
      const files: UnnamedFile[] = [];
      let plan: MountPlan | undefined;
      const begun = () => {
        for (const one of [plan, ...restricted.splice(0), ...files.splice(0)]) one?.[Symbol.dispose]();
      };
      const end = () => {
        begun();
        announced?.[Symbol.dispose]();
      };
      try {
        if (announced !== undefined) await policy.workspace.commitsOver();
        append(restricted, await restrictedIn(policy.workspace, mostArguments / fewestArguments));
        const paths = restricted.length;
        // Another program may have removed one since: a command could then make it, with what it likes.
        reserveIn(policy.workspace.roots.map(({ path }) => path));
        plan = new MountPlan(policy.workspace, policy.hidden?.found() ?? [], restricted);
        const holding = (contents: Uint8Array) => {
          const file = unnamed(contents);
          files.push(file);
          return file.fd;
        };
        const views = foreignMountsBelow(systemDirectories);
        const places = new Set(plan.mounts.map(({ place }) => place));
        const calls = filter && holding(filter);
        const descriptors: number[] = [];
        const give = (fd: number) => String(statusDescriptor + descriptors.push(fd));
        const args = [
          ...namespaces(found, policy.network),
          // A process in the background that is to stay must not end with the shell's guard.
          ...(leftovers === "keep" ? [] : ["--die-with-parent"]),
          ...(calls === undefined ? [] : ["--seccomp", give(calls)]),
          ...seen,
          ...views.flatMap(coverView),
          ...plan.mounts.flatMap(mount => bind(mount, found.bindsHandles ? give : undefined)),
          ...plan.hidden.flatMap(cover => hide(cover, text => give(holding(text)))),
          ...views
            .filter(path => isDirectory(path) && !places.has(path))
            .flatMap(path => ["--remount-ro", path]),
          ...["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"],
          ...["--chdir", plan.placeOf(directory), "--json-status-fd", String(statusDescriptor)],
          ...variables({ ...environment, HOME: home, TMPDIR: "/tmp" }),
          "--",
          ...shellWithLimits(command, limits, `printf %s ${singleQuoted(settings)} > ~/.gitconfig`),
        ];
        if (args.length > mostArguments) throw tooMany(paths);
        const group = makeControlGroup(randomBytes(6).toString("hex"), limits);
        const release = () => {
          end();
          group?.remove();
        };
        const isExhausted = spaceWatch(policy.workspace.roots, limits);
        const shared = { environment: {}, descriptors, warden: true, isExhausted, begun, release };
        if (group === undefined) return { program: found.program, args, ...shared };
        // The guard joins before it starts anything, so nothing is ever outside.
        const join = ["-c", 'echo $$ > "$0" && exec "$@"', group.members, found.program, ...args];
        return { program: "/bin/sh", args: join, ...shared };
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

function tooMany(paths: number): Fault {
  return new Fault("no_sandbox", { problem: { is: "too_many_paths", paths } });
}

function unnamed(contents: Uint8Array): UnnamedFile {
  const file = UnnamedFile.of(contents);
  if (file === undefined) throw new Fault("no_sandbox", { problem: { is: "no_room" } });
  return file;
}

function namespaces(found: SandboxFound, network: boolean): string[] {
  return [
    "--unshare-all",
    ...(network ? ["--share-net"] : []),
    ...(found.forbidsNamespaces ? ["--unshare-user", "--disable-userns"] : []),
    ...["--new-session", "--cap-drop", "ALL", "--hostname", "sandbox"],
  ];
}

/** The visible parts of the machine, without the roots. */
function machine(policy: SandboxPolicy, { scratchBytes }: CommandLimits): string[] {
  const files = policy.network ? [...systemFiles, ...networkFiles] : systemFiles;
  const size = scratchBytes === Number.POSITIVE_INFINITY ? [] : ["--size", String(scratchBytes)];
  const scratch = (path: string) => [...size, "--tmpfs", path];
  return [
    ...systemDirectories.flatMap(readOnly),
    ...[...files, ...nodeDirectories(), ...(policy.readable ?? [])].flatMap(show),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...keyFiles.flatMap(path => ["--ro-bind", "/dev/null", path]),
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

/**
 * A bind takes the mounts below along. What one of them shows a second time, of a root or of the state, would come
 * without its rules; a `/proc` would show the processes of the machine, with their command lines.
 */
function coverView(path: string): string[] {
  return isDirectory(path) ? ["--perms", "0755", "--tmpfs", path] : ["--ro-bind", "/dev/null", path];
}

function isDirectory(path: string): boolean {
  try {
    return sys.lstat(path)?.isDirectory() === true;
  } catch {
    return true; // a mount whose server does not answer
  }
}

function bind({ handle, place, writable }: Mount, give: ((fd: number) => string) | undefined): string[] {
  const option = writable ? "--bind" : "--ro-bind";
  return give === undefined
    ? [option, display(handle.whereabouts()), place]
    : [`${option}-fd`, give(handle.fd), place];
}

/** Covers what must not be seen: a directory by an empty one, a file by an empty one or another text. */
function hide({ place, isDirectory, text }: Cover, give: (text: Uint8Array) => string): string[] {
  if (text !== undefined) return ["--perms", "0444", "--ro-bind-data", give(text), place];
  return isDirectory
    ? ["--perms", "0500", "--tmpfs", place, "--remount-ro", place]
    : ["--ro-bind", "/dev/null", place];
}

/** The names of the keys in the server's keyrings, where the kernel has any. */
const keyFiles = ["/proc/keys", "/proc/key-users"].filter(path => {
  try {
    using _ = Handle.open(path);
    return true;
  } catch {
    return false;
  }
});

/**
 * Checks whether the disks of the roots are nearly full. If a disk was so at the start, the command may use half of
 * the rest. Once the engine is closed, nothing watches the disk, so what a command left behind has to end.
 */
function spaceWatch(roots: readonly Root[], { reserveBytes }: CommandLimits): () => boolean {
  const writable = roots.filter(root => root.access === "read-write");
  const reserve = Math.min(reserveBytes, freeSpace(writable) / 2);
  return () => writable.some(root => root.isClosed) || freeSpace(writable) < reserve;
}

function variables(environment: Environment): string[] {
  return Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]);
}
