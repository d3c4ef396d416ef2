// A small shell that starts `cp` for us. Forking copies the page tables of the parent and blocks Node's event loop
// for four milliseconds or more; the shell forks in one, in parallel with our own work. It copies between files that
// this process has open, so no name is followed. It ends when its input does.
import { spawn } from "node:child_process";

/**
 * Two lines are a question, where to copy to and the descriptors; a line is the answer, how `cp` ended. `cp` leaves
 * ACLs out; `ls` marks a file that has one with a plus sign.
 */
const script = `while IFS= read -r to && read -r files; do
  set --
  for file in $files; do set -- "$@" "/proc/$PPID/fd/$file"; done
  cp --attributes-only --preserve=xattr "$@" "$to" &&
    case "$(ls -Lldn "$@" 2>/dev/null)" in *"+ "*) false ;; esac
  echo $?
done`;

type Ask = (files: readonly number[], to: string) => Promise<boolean>;

let standby: Ask | undefined;
let isUseless = false;

/**
 * Copies the attributes of open files, which must stay open until it is done, to a file, or each to the entry with
 * its number in a directory. False if that failed or could not be determined, or if one of them has an ACL.
 */
export async function attributesCopied(files: readonly number[], to: string): Promise<boolean> {
  if (isUseless || to.includes("\n")) return false;
  const ask = standby ?? start();
  return await ask(files, to);
}

/** It failed unexpectedly: it does not exist, or cannot reach our files. It is not used again. */
export function giveUpShell(): void {
  isUseless = true;
}

function start(): Ask {
  const child = spawn("/bin/sh", ["-c", script], {
    cwd: "/",
    env: { PATH: process.env.PATH, LC_ALL: "C" },
    stdio: ["pipe", "pipe", "ignore"],
    detached: true, // a signal for the server's group is not for it
  });
  if (child.pid === undefined) {
    child.once("error", () => {});
    return async () => false; // and there are no pipes, where descriptors have run out
  }
  const { stdin, stdout } = child;
  const waiting: ((copied: boolean) => void)[] = [];
  let isGone = false;
  const ask: Ask = (files, to) =>
    new Promise(resolve => {
      if (isGone) return resolve(false);
      waiting.push(resolve);
      keepAlive(stdout, true);
      stdin.write(`${to}\n${files.join(" ")}\n`);
    });
  const gone = () => {
    isGone = true;
    if (standby === ask) standby = undefined;
    for (const answer of waiting.splice(0)) answer(false);
  };
  child.once("error", gone).once("exit", gone);
  stdin.on("error", gone);
  stdout.setEncoding("latin1").on("data", (lines: string) => {
    for (const code of lines.trim().split("\n")) waiting.shift()?.(code === "0");
    if (waiting.length === 0) keepAlive(stdout, false);
  });
  child.unref();
  keepAlive(stdin, false);
  standby = ask;
  return ask;
}

/**
 * Whether a pipe keeps this process alive: only while a caller waits. Pipes are sockets, which their types do not
 * say.
 */
function keepAlive(pipe: object, held: boolean): void {
  const set: unknown = Reflect.get(pipe, held ? "ref" : "unref");
  if (typeof set === "function") set.call(pipe);
}
