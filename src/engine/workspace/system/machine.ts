// What tells boots of a machine and its processes apart, whatever the system offers for it. There are three
// implementations: machine-by-proc.ts (Linux with /proc), machine-by-programs.ts (macOS and the BSDs, whose `sysctl` and
// `ps` answer), and machine-by-numbers.ts (Windows, and systems where neither answers).

export interface Machine {
  /** A UUID that changes with every boot. Undefined if the system has none. */
  boot(): string | undefined;
  /** Within one boot: the namespace that process numbers belong to. */
  namespace(): string;
  /**
   * When a process was started, in the system's own words. With its number this identifies a process. Undefined if it
   * is gone; empty where it lives and the system does not report it.
   */
  startOf(pid: number): string | undefined;
}
