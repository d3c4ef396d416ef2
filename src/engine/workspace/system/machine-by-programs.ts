// Boots and processes as `sysctl` and `ps` report them (macOS, the BSDs). Each question starts a program, so answers are
// kept: those about the boot permanently, those about a process for a moment, because callers that wait for a lock ask
// again and again.
import { clock } from "../../clock.ts";
import type { Machine } from "./machine.ts";
import { isInUse } from "./machine-by-numbers.ts";

/** What a program prints. Undefined if it is missing, fails or takes too long. */
export type AskProgram = (program: string, args: readonly string[]) => string | undefined;

const rememberMs = 1000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function machineByPrograms(ask: AskProgram): Machine {
  let boot: { readonly id: string | undefined } | undefined;
  let isUseless: boolean | undefined;
  const known = new Map<number, { readonly start: string; readonly at: number }>();

  function startOf(pid: number): string | undefined {
    if (!isInUse(pid)) {
      known.delete(pid);
      return undefined;
    }
    isUseless ??= told(process.pid) === ""; // some sandboxes forbid `ps`
    if (isUseless) return "";
    const last = known.get(pid);
    if (last !== undefined && clock() - last.at < rememberMs) return last.start;
    const start = told(pid);
    if (start === undefined || (start === "" && !isInUse(pid))) return undefined; // a zombie, or it ended meanwhile
    known.set(pid, { start, at: clock() });
    return start;
  }

  /** To the second: no number is used again so soon. Undefined for a zombie. */
  function told(pid: number): string | undefined {
    const line = ask("ps", ["-o", "stat=", "-o", "lstart=", "-p", String(pid)]) ?? "";
    const [state = "", ...start] = line.trim().split(/\s+/);
    return state.startsWith("Z") ? undefined : start.join("").replace(/\W/g, "");
  }

  return {
    boot() {
      boot ??= { id: bootIn(ask) };
      return boot.id;
    },
    namespace: () => "",
    startOf,
  };
}

/** macOS has a UUID for each boot. Others have the time of it, which is made to look like one. */
function bootIn(ask: AskProgram): string | undefined {
  const session = ask("sysctl", ["-n", "kern.bootsessionuuid"])?.trim().toLowerCase() ?? "";
  if (uuid.test(session)) return session;
  const seconds = /\bsec = (\d+)/.exec(ask("sysctl", ["-n", "kern.boottime"]) ?? "")?.[1];
  return seconds === undefined
    ? undefined
    : `00000000-0000-0000-0000-${Number(seconds).toString(16).padStart(12, "0")}`;
}
