// A process that commits, for tests that kill it, or run several of it at once. Arguments: what to do, the base
// of a Fixture, and a number.
import { closeSync, existsSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isDead, socketsOf } from "../../src/engine/workspace/commit/state.ts";
import { takeWorkingDirectory } from "../../src/engine/workspace/system/entered-directory.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { errno, watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";
import { carryOut, scenarios } from "./scenarios.ts";

takeWorkingDirectory(); // as the program does, where /proc is hidden
const [, , task = "", base = "", given = "0"] = process.argv;
const number = Number(given);
const open = () =>
  Workspace.open([{ path: join(base, "inside"), access: "read-write" }], { state: join(base, "state") });
let workspace: Workspace; // opening it recovers
if (task !== "recover") workspace = open();

/** Stops the whole process until there is a file `go`. */
function waitForGo(): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(join(base, "go"))) Atomics.wait(never, 0, 0, 20);
}

/** Runs `action`, and stops in front of the first system call that `isIt` names. */
function pausing(
  isIt: (name: string, args: readonly unknown[]) => boolean,
  action: () => Promise<void>,
): Promise<void> {
  let isOver = false;
  return watching((_, name, args) => {
    if (isOver || !isIt(name, args)) return;
    isOver = true;
    writeSync(1, "held\n");
    waitForGo();
  }, action);
}

const tasks: Record<string, () => Promise<void>> = {
  /** Patches eight files and a fresh directory to one version after another, until it is killed. */
  async patches() {
    for (let version = 1; ; version++) {
      const bytes = Buffer.from(`${version} `.repeat(500 + 300 * (version % 3)));
      const files = Array.from({ length: 8 }, (_, i) => workspace.at(`f${i}`));
      await workspace.commit(
        [
          ...files.map(path => ({ kind: "write", path, bytes }) as const),
          { kind: "write", path: workspace.at(`d${version}/new`), bytes },
          ...(version > 1
            ? [{ kind: "remove", path: workspace.at(`d${version - 1}`), recursive: true } as const]
            : []),
        ],
        { parents: true },
      );
      process.stdout.write(`${version}\n`);
    }
  },

  /** Commits again and again, and says how many more descriptors are open than after the first times. */
  async descriptors() {
    const openNow = () => readdirSync("/proc/self/fd").length;
    let before = 0;
    for (let i = 1; i <= number; i++) {
      await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from(`${i}`) }]);
      await workspace.settled();
      if (i === 5) before = openNow();
    }
    process.stdout.write(`${openNow() - before}\n`);
  },

  /** Carries out a scenario and kills itself in the n-th system call, or in the n-th of one name. */
  async scenario() {
    const [index = "", at = "", only] = given.split(":");
    const scenario = scenarios[Number(index)];
    if (scenario === undefined) throw new Error("no such scenario");
    const fixture = Fixture.over(base, workspace);
    let count = 0;
    await watching(
      (_, name) => {
        if (only !== undefined && name !== only) return;
        if (++count === Number(at)) process.kill(process.pid, "SIGKILL");
      },
      async () => {
        await carryOut(scenario, fixture);
        await workspace.settled();
      },
    );
  },

  /**
   * Copies the tree `s` to `w` and kills itself in the n-th system call after `w` is there. With "full", the archive has
   * no room for contents.
   */
  async copies() {
    const [at = "", full] = given.split(":");
    let count = 0;
    await watching(
      (_, name, args) => {
        if (full && name === "open" && String(args[0]).includes("/objects/")) throw errno("ENOSPC", name);
        if (existsSync(join(base, "inside/w")) && ++count === Number(at))
          process.kill(process.pid, "SIGKILL");
      },
      async () => {
        await workspace.commit([{ kind: "copy", from: workspace.at("s"), to: workspace.at("w") }]);
        await workspace.settled();
      },
    );
  },

  /** Tells what some files hold. */
  async reads() {
    const texts: string[] = [];
    for (const name of given.split(",")) {
      using file = workspace.file(workspace.at(name));
      texts.push((await file.bytes(1_000_000)).toString());
    }
    process.stdout.write(JSON.stringify(texts));
  },

  /** Only starts, and with it recovers; kills itself in the n-th system call of that, or in the n-th of one name. */
  async recover() {
    const [at = "", only] = given.split(":");
    let count = 0;
    await watching(
      (_, name) => {
        if (only !== undefined && name !== only) return;
        if (++count === Number(at)) process.kill(process.pid, "SIGKILL");
      },
      async () => {
        open();
      },
    );
  },

  /** Adds a hundred lines to a file, and to another one in the same commit, many at once. */
  async edits() {
    const both = [workspace.at("shared"), workspace.at("second")];
    if (number % 2 === 1) both.reverse();
    const told = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        workspace.editAll(both, files =>
          files.map(({ path, bytes }) => ({
            kind: "write",
            path,
            bytes: Buffer.concat([bytes ?? Buffer.alloc(0), Buffer.from(`${number}.${i}\n`)]),
          })),
        ),
      ),
    );
    for (const [i, one] of told.entries()) {
      process.stdout.write(`${number}.${i} ${one.status === "fulfilled" ? "ok" : String(one.reason)}\n`);
    }
  },

  /** Carries out a scenario and is gone before anything of it is flushed to its place. */
  async lastWords() {
    const scenario = scenarios[number];
    if (scenario === undefined) throw new Error("no such scenario");
    const fixture = Fixture.over(base, workspace);
    await carryOut(scenario, fixture);
    await workspace.settled();
    process.kill(process.pid, "SIGKILL");
  },

  /** Moves `a` to another directory and edits it there, and is gone as soon as it has the answer. */
  async movedAndEdited() {
    await workspace.commit([{ kind: "move", from: workspace.at("a"), to: workspace.at("d/a") }]);
    await workspace.commit([{ kind: "write", path: workspace.at("d/a"), bytes: Buffer.from("edited") }]);
    process.kill(process.pid, "SIGKILL");
  },

  /** Writes to `a`, tells so, and does nothing more until there is a file `go`: what it wrote is not flushed. */
  async writesAndPauses() {
    await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from("theirs") }]);
    writeSync(1, "written\n");
    waitForGo();
  },

  /** Moves or removes `d`; has its intent on the disk, tells so, and goes on when there is a file `go`. */
  async leavesSlowly() {
    const d = workspace.at("d");
    const change =
      given === "move"
        ? ({ kind: "move", from: d, to: workspace.at("x") } as const)
        : ({ kind: "remove", path: d, recursive: true } as const);
    const isIt = (name: string, args: readonly unknown[]) =>
      name === "rename" && String(args[0]).endsWith("/d");
    await pausing(isIt, async () => {
      await workspace.commit([change]);
    });
    await workspace.settled();
  },

  /** Creates `d/new`; has found the directory, tells so, and writes its intent when there is a file `go`. */
  async createsSlowly() {
    await workspace.commit([{ kind: "write", path: workspace.at("other"), bytes: Buffer.from("other") }]);
    const isIt = (name: string, args: readonly unknown[]) =>
      name === "write" && String(args[1]).includes('"is":"intent"');
    await pausing(isIt, async () => {
      const bytes = Buffer.from("new");
      await workspace.commit([{ kind: "write", path: workspace.at("d/new"), bytes }]).catch(() => {});
    });
    await workspace.settled();
  },

  /** Takes all descriptors, and stays until it is killed. */
  async writesAndStays() {
    await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from("theirs") }]);
    await workspace.settled();
    setInterval(takeAll, 1);
    writeSync(1, "written\n");
    await new Promise(resolve => setTimeout(resolve, 600_000));
  },

  /** Tells which of the other processes it takes for dead when it has no descriptor left. */
  async judges() {
    const processes = join(base, "state/processes");
    const others = readdirSync(processes).map(name => join(processes, name, "owner"));
    const open: number[] = [];
    try {
      for (;;) open.push(openSync("/dev/null", "r"));
    } catch {
      // there are no more
    }
    const dead = others.filter(owner => isDead(owner, socketsOf(join(base, "state"))));
    for (const fd of open) closeSync(fd);
    writeSync(1, JSON.stringify({ asked: others.length, dead: dead.length }));
  },

  /** Writes to `a`, and is gone as soon as it has the answer. */
  async answered() {
    await workspace.commit([
      { kind: "write", path: workspace.at("a"), bytes: Buffer.from("new ".repeat(number)) },
    ]);
    process.kill(process.pid, "SIGKILL");
  },

  /** Writes to `a`, and is gone when the journal says so on the disk, and before the file is in its place. */
  async marked() {
    let flushes = 0; // of the journal: before the content, and with the mark
    await watching(
      (_, name) => {
        if (flushes === 2) process.kill(process.pid, "SIGKILL");
        if (name === "flushData") flushes++;
      },
      async () => {
        const bytes = Buffer.from("new ".repeat(number));
        await workspace.commit([{ kind: "write", path: workspace.at("a"), bytes }]);
      },
    );
  },

  /** Writes to files, one after the other, and is gone with the last answer. Their content is their path. */
  async writesAll() {
    for (const name of given.split(",")) {
      const bytes = Buffer.from(name);
      await workspace.commit([{ kind: "write", path: workspace.at(name), bytes }], { parents: true });
    }
    process.kill(process.pid, "SIGKILL");
  },

  /** Writes "new" into all these files with one commit, and kills itself in the fourth rename. */
  async patch() {
    const bytes = Buffer.from("new");
    let renames = 0;
    await watching(
      (_, name) => {
        if (name === "rename" && ++renames === 4) process.kill(process.pid, "SIGKILL");
      },
      async () => {
        await workspace.commit(
          given.split(",").map(name => ({ kind: "write", path: workspace.at(name), bytes })),
        );
        await workspace.settled();
      },
    );
  },

  /**
   * Writes to files in one commit: what they hold is their path. Kills itself before the n-th of them gets its name, or
   * with the answer.
   */
  async writesTogether() {
    const [names = "", at] = given.split(":");
    let count = 0;
    await watching(
      (_, name, args) => {
        if (name !== "rename" || !String(args[1]).endsWith("/x")) return;
        if (++count === Number(at)) process.kill(process.pid, "SIGKILL");
      },
      async () => {
        await workspace.commit(
          names.split(",").map(name => ({
            kind: "write",
            path: workspace.at(name),
            bytes: Buffer.from(name),
          })),
        );
      },
    );
    process.kill(process.pid, "SIGKILL");
  },

  /** Writes `1` to `a/x` and `b/x` in one commit, then something else to `a/x`, and is gone with the answer. */
  async patchesAndEdits() {
    const write = (name: string, text: string) =>
      ({ kind: "write", path: workspace.at(name), bytes: Buffer.from(text) }) as const;
    await workspace.commit([write("a/x", "1"), write("b/x", "1")]);
    await workspace.commit([write("a/x", given)]);
    process.kill(process.pid, "SIGKILL");
  },

  /** Moves `a/x` to `b/y`, and is gone with the answer. */
  async movesAcross() {
    await workspace.commit([{ kind: "move", from: workspace.at("a/x"), to: workspace.at("b/y") }]);
    process.kill(process.pid, "SIGKILL");
  },

  /** Fails to create `a`, then creates it with other content, and is gone with the answer. */
  async failsAndWrites() {
    const write = (text: string) =>
      workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from(text) }]);
    await watching(
      (_, name, args) => {
        if (["link", "rename"].includes(name) && String(args[1]).endsWith("/a")) throw errno("EIO", name);
      },
      () => write("failed"),
    ).catch(() => {});
    await write("answered");
    process.kill(process.pid, "SIGKILL");
  },

  /** Writes to `a` before and after the state directory is cleared away, and is gone with the last answer. */
  async cleared() {
    const write = (text: string) =>
      workspace.commit([{ kind: "write", path: workspace.at("a"), bytes: Buffer.from(text) }]);
    await write("between");
    rmSync(join(base, "state"), { recursive: true });
    await write("new");
    process.kill(process.pid, "SIGKILL");
  },

  /** Tries writes in a directory that is closed to this user. */
  async refusals() {
    const told: Record<string, string> = {};
    for (const path of ["closed/a", "closed/b", "closed/new", "closed/linked", "own"]) {
      try {
        const commit = await workspace.commit([
          { kind: "write", path: workspace.at(path), bytes: Buffer.from("new") },
        ]);
        told[path] = commit.files[0]?.effect ?? "";
      } catch (error) {
        told[path] = (error as { code: string }).code;
      }
    }
    process.stdout.write(JSON.stringify(told));
  },

  /** Writes, makes, moves and deletes below a name that another process swaps, until a file tells it to stop. */
  async work() {
    let done = 0;
    for (let i = 0; !existsSync(join(base, "stop")); i++) {
      const at = (name: string) => workspace.at(`swap/${name}`);
      const bytes = Buffer.from("from inside");
      const tries = [
        () => workspace.commit([{ kind: "write", path: at("target"), bytes }]),
        () => workspace.commit([{ kind: "write", path: at(`d${i}/e/f`), bytes }], { parents: true }),
        () => workspace.commit([{ kind: "mkdir", path: at(`m${i}`) }]),
        () => workspace.commit([{ kind: "move", from: at("target"), to: at(`r${i}`) }]),
        () => workspace.commit([{ kind: "move", from: workspace.at("mine"), to: at("mine") }]),
        () => workspace.commit([{ kind: "move", from: at("mine"), to: workspace.at("mine") }]),
        () => workspace.commit([{ kind: "copy", from: at("target"), to: at(`c${i}`) }]),
        () => workspace.commit([{ kind: "remove", path: at("victim") }]),
        () => workspace.commit([{ kind: "remove", path: at("tree"), recursive: true }]),
      ];
      for (const one of tries) {
        try {
          await one();
          if (++done > 10) writeFileSync(join(base, "enough"), "");
        } catch {
          // refused: the swap came in between
        }
      }
      await workspace.commit([{ kind: "write", path: workspace.at("mine"), bytes }]).catch(() => {});
    }
    process.stdout.write(String(done));
  },
};

await tasks[task]?.();

function takeAll(): void {
  try {
    for (;;) openSync("/dev/null", "r");
  } catch {
    // none is left
  }
}
