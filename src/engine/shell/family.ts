// All descendants of a command, whether they stayed in its process group or left it (`setsid`, double fork): found by
// parent, by group and session, and by a mark in the environment, which children inherit. Only a process that left
// the group, lost its parent and cleared its environment before the first look escapes; in a sandbox not even that
// one, because the first process of its namespace is known by its number. A question without an answer, as when this
// process has run out of descriptors, means that the family lives. Without a list of processes (macOS, Linux without
// /proc), the family is the process group. On Windows it is the tree below the leader, which `taskkill` ends while the
// leader lives.
import { spawn } from "node:child_process";
import { clock } from "../clock.ts";
import { unlessFailing } from "../workspace/errno.ts";
import { byDescriptor } from "../workspace/system/descriptors.ts";
import { carriesMark, findProcess, listProcesses, type ProcessEntry } from "../workspace/system/processes.ts";
import { onWindows } from "../workspace/windows-path.ts";

/** Within this time no machine starts as many processes as there are numbers. */
const youthMs = 1000;

/** How long ending a tree may take before it is requested again. */
const treeMs = 1000;

export class Family {
  readonly leader: number;
  /** What its members have in their environment. */
  readonly mark: string;
  /** Start times by pid, so that a reused pid is not mistaken for ours; undefined where that is not known. */
  #known: Map<number, number | undefined>;
  readonly #start: number;
  readonly #born = clock();
  #looked = false;
  #ended = Number.NEGATIVE_INFINITY;

  /** Made right after the start, while the leader's number is surely its own. */
  constructor(leader: number, mark: string) {
    this.leader = leader;
    this.mark = mark;
    const start = startOf(leader);
    this.#start = start ?? 0;
    this.#known = new Map([[leader, start]]);
  }

  /**
   * Adds the first process of the family's own namespace. The kernel ends the namespace with it, whatever became of its
   * group, parent and environment.
   */
  admit(pid: number): void {
    this.#known.set(pid, startOf(pid));
  }

  /** Whether any of its processes lives. Cheap as long as one does that was seen before. */
  lives(list?: () => ProcessEntry[]): boolean {
    const lives = unlessFailing(() => {
      if ([...this.#known.keys()].some(pid => this.#isKnown(findProcess(pid)))) return true;
      return this.#known.size > 0 && this.#members(list).length > 0;
    });
    return lives ?? true;
  }

  #isKnown(entry: ProcessEntry | undefined): boolean {
    if (entry === undefined || !this.#known.has(entry.pid) || entry.start < this.#start) return false;
    return (this.#known.get(entry.pid) ?? entry.start) === entry.start;
  }

  /** Those that live now, as numbers to send signals to. Throws where that is not known. */
  #members(list?: () => ProcessEntry[]): number[] {
    if (onWindows) return send(this.leader, 0) ? [this.leader] : [];
    if (!byDescriptor) return send(-this.leader, 0) ? [-this.leader] : [];
    const own = findProcess(process.pid);
    const young = clock() - this.#born < youthMs ? this.leader : 0;
    const listed = list?.() ?? listProcesses(young);
    const all = listed.filter(entry => entry.start >= this.#start && entry.pid !== process.pid);
    const members = new Map<number, number>();
    const groups = new Set<number>(this.#looked ? [] : [this.leader]);
    const admit = (entry: ProcessEntry) => {
      members.set(entry.pid, entry.start);
      // A member in the server's own group or session does not make that ours, nor one in an invisible one (0).
      if (entry.group !== own?.group && entry.group > 0) groups.add(entry.group);
      if (entry.session !== own?.session && entry.session > 0) groups.add(entry.session);
    };
    for (const entry of all) {
      if (this.#isKnown(entry) || carriesMark(entry, this.mark)) admit(entry);
    }
    for (let size = -1; size !== members.size; ) {
      size = members.size;
      for (const entry of all) {
        if (members.has(entry.pid)) continue;
        if (members.has(entry.parent) || groups.has(entry.group) || groups.has(entry.session)) admit(entry);
      }
    }
    this.#known = members;
    this.#looked = true;
    return [...members.keys()];
  }

  /** Signals every member but `except`, and returns whether there was any. */
  signal(signal: NodeJS.Signals, except?: number): boolean {
    const members = unlessFailing(() => this.#members());
    if (members === undefined) return true;
    if (onWindows && members.length > 0) this.#endTree();
    else for (const pid of members) if (pid !== except) send(pid, signal);
    return members.length > 0;
  }

  #endTree(): void {
    const now = clock();
    if (now - this.#ended < treeMs) return;
    this.#ended = now;
    const kill = spawn("taskkill", ["/pid", String(this.leader), "/t", "/f"], {
      stdio: "ignore",
      windowsHide: true,
    });
    kill.on("error", () => send(this.leader, "SIGKILL")).unref();
  }
}

/** 0 if there is no such process; undefined where that is not known. */
function startOf(pid: number): number | undefined {
  return unlessFailing(() => findProcess(pid)?.start ?? 0);
}

/** False if there is no such process or group any more. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
