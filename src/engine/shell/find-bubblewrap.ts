// Finds bubblewrap and checks that it works: many systems have it, some forbid what it needs.
import { makeControlGroup, sweepControlGroups } from "../workspace/system/control-group.ts";
import { defaultLimits } from "./limits.ts";
import type { SandboxFound, SandboxMissing } from "./policy.ts";
import { startProcess } from "./process.ts";

/** Never looked up in PATH: a directory in it may be a root, where a caller can write. */
const places = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"];

const install =
  "install bubblewrap: apt-get install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap";

export async function findBubblewrap(): Promise<SandboxFound | SandboxMissing> {
  for (const program of places) {
    const version = /^bubblewrap (\S+)/.exec((await outputOf(program, ["--version"])).output)?.[1];
    if (version === undefined) continue;
    const { output: help } = await outputOf(program, ["--help"]);
    const forbidsNamespaces = help.includes("--disable-userns");
    const trial = await outputOf(program, [
      ...["--unshare-all", ...(forbidsNamespaces ? ["--unshare-user", "--disable-userns"] : [])],
      ...[
        "--new-session",
        "--die-with-parent",
        "--cap-drop",
        "ALL",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
      ],
      ...["--dev", "/dev", "--tmpfs", "/tmp", "--remount-ro", "/proc", "--", "/bin/sh", "-c", "exit 0"],
    ]);
    if (trial.code !== 0)
      return { missing: `bubblewrap does not work: ${trial.errors.trim()}`, install: permit };
    return {
      kind: "bubblewrap",
      version,
      program,
      bindsHandles: help.includes("--ro-bind-fd"),
      forbidsNamespaces,
      holdsProcesses: holdsProcesses(),
    };
  }
  return { missing: "bubblewrap is not installed", install };
}

const permit =
  "allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, sysctl kernel.apparmor_restrict_unprivileged_userns=0, or in a container --security-opt seccomp=unconfined with --cap-add SYS_ADMIN";

function holdsProcesses(): SandboxFound["holdsProcesses"] {
  if (process.getuid?.() !== 0) return "user limit";
  sweepControlGroups();
  const group = makeControlGroup("trial", defaultLimits);
  group?.remove();
  return group === undefined ? "nothing" : "control group";
}

async function outputOf(
  program: string,
  args: readonly string[],
): Promise<{ output: string; code: number | undefined; errors: string }> {
  try {
    const started = await startProcess(program, args, { cwd: "/", env: {} });
    let output = "";
    for await (const chunk of started.output) output += chunk.toString("latin1");
    const { code, errors } = await started.exit;
    return { output, code, errors };
  } catch {
    return { output: "", code: undefined, errors: "" };
  }
}
