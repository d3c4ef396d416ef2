// The fixture for commands: a temporary tree with a root, and a way to see what still runs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunOptions, type RunResult, run } from "../../src/engine/shell/run.ts";
import type { Grant } from "../../src/engine/workspace/grant.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";

export class Fixture implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-run-")));
  readonly root = join(this.base, "root");
  readonly outside = join(this.base, "outside");
  readonly secret = `SECRET-${Math.random().toString(36).slice(2)}`;
  workspace: Workspace;

  constructor() {
    mkdirSync(this.root);
    mkdirSync(this.outside);
    writeFileSync(join(this.root, "pub.txt"), "PUBLIC\n");
    writeFileSync(join(this.outside, "secret.txt"), this.secret);
    this.workspace = Workspace.open([{ path: this.root, access: "read-write" }]);
  }

  /** Other roots than the one. The first is where commands run. */
  grant(grants: readonly Grant[]): void {
    this.workspace[Symbol.dispose]();
    this.workspace = Workspace.open(grants);
  }

  async run(command: string, options: Partial<RunOptions> = {}): Promise<RunResult> {
    using own = options.directory ? undefined : this.workspace.directory(this.workspace.at(this.root));
    const directory = options.directory ?? own;
    if (directory === undefined) throw new Error("no directory");
    return await run(command, { directory, keep: { head: 65_536, tail: 0 }, timeoutMs: 200_000, ...options });
  }

  [Symbol.dispose](): void {
    this.workspace[Symbol.dispose]();
    execFileSync("rm", ["-rf", this.base]);
  }
}

/** Pids of living processes whose command line holds `text`. */
export function running(text: string): number[] {
  return readdirSync("/proc")
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter(pid => {
      try {
        const dead = /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
        return !dead && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Ends them. One may take the others with it. */
export function end(text: string): void {
  for (const pid of running(text)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // gone with another
    }
  }
}

/** A number of seconds that no other test sleeps, to find the sleeper by. */
export function odd(): string {
  return `${100_000 + Math.floor(Math.random() * 800_000)}`;
}
