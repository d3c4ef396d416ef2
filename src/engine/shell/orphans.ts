// A killed server (SIGKILL, out of memory) no longer runs code, and commands outside a sandbox would continue. So a
// small helper shell knows the running commands, and kills them when its input ends: the kernel closes that,
// however the server dies. There is one for all commands, started with the first.
import { type ChildProcess, spawn } from "node:child_process";

/**
 * Lines are `+ GROUP MARK` and `- GROUP MARK`. At the end groups are killed, and on Linux processes that left a group
 * but have the mark in their environment; twice, for those that were forking.
 */
const script = `trap '' HUP INT TERM
left=
while read -r sign group mark; do
  case $sign in
    +) left="$left $group:$mark " ;;
    -) left="\${left%% $group:$mark *} \${left#* $group:$mark }" ;;
  esac
done
for round in 1 2; do
  for one in $left; do
    kill -9 -- "-\${one%%:*}"
    for file in $(grep -laF "\${one#*:}" /proc/[0-9]*/environ); do
      file=\${file#/proc/}
      kill -9 "\${file%/environ}"
    done
  done
done`;

let standby: ChildProcess | undefined;
/** The state to replay if it has to be restarted. */
const guarded = new Set<string>();

/** Processes with `mark` or in `group` end with this process, until this is revoked. */
export function endWithServer(group: number, mark: string): Disposable {
  if (process.platform === "win32") return { [Symbol.dispose]() {} };
  const who = `${group} ${mark}\n`;
  guarded.add(who);
  if (standby === undefined) standby = start();
  else standby.stdin?.write(`+ ${who}`);
  return {
    [Symbol.dispose]() {
      guarded.delete(who);
      standby?.stdin?.write(`- ${who}`);
    },
  };
}

function start(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", script], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["pipe", "ignore", "ignore"],
    detached: true, // a signal for the server's group is not for it
  });
  const gone = () => {
    if (standby === child) standby = undefined;
  };
  child.on("error", gone).once("exit", gone);
  child.stdin?.on("error", gone);
  // It must not keep the server from ending.
  child.unref();
  if (child.stdin !== null && "unref" in child.stdin && typeof child.stdin.unref === "function")
    child.stdin.unref();
  for (const who of guarded) child.stdin?.write(`+ ${who}`);
  return child;
}
