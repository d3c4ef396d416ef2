// The race: while another process swaps a directory (or a file, or a directory above) for a link that leads outside,
// every tool that takes a path is called through that name. Nothing may leak, and nothing outside may change.
import { spawn } from "node:child_process";
import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Dialect } from "../../src/contract/dialect.ts";
import type { Tool } from "../../src/contract/tool.ts";
import type { Message } from "../../test/mcp/wire.ts";
import { repository } from "../places.ts";
import type { Trial } from "../suite.ts";
import { carriersOf } from "./carriers.ts";
import { failed, overStdio, type Target } from "./target.ts";

interface Flip {
  readonly id: string;
  readonly story: string;
  /** What is swapped, below the directory of the attack. */
  readonly name: string;
  /** What the link leads to, below the directory outside; undefined for a named pipe instead of a link. */
  readonly target: string | undefined;
  /** The paths that tools are given. */
  readonly paths: readonly string[];
}

const flips: readonly Flip[] = [
  {
    id: "A136",
    story: "a directory",
    name: "d",
    target: "",
    paths: ["d/secret.txt", "d", "d/sub", "d/sub/secret.txt", "d/fresh", "."],
  },
  { id: "A149", story: "the file itself", name: "f", target: "secret.txt", paths: ["f", "."] },
  {
    id: "A150",
    story: "a directory far above",
    name: "a",
    target: "",
    paths: ["a/sub/secret.txt", "a/sub", "a/sub/fresh"],
  },
  {
    id: "A151",
    story: "a directory in a tree",
    name: "t/sub",
    target: "sub",
    paths: ["t", "t/sub/secret.txt"],
  },
  { id: "A156", story: "a file for a pipe", name: "f", target: undefined, paths: ["f", "."] },
];

/** How many calls are sent at once. */
const inFlight = 6;
/** This many calls are made even on a slow machine, within a longer time limit. */
const fewest = 300;
const mostSeconds = 10;

/** `except`: cases that are not promised there. */
export async function attackBySwapping(
  dialect: Dialect,
  trial: Trial,
  seconds: number,
  except: readonly string[] = [],
): Promise<void> {
  for (const flip of flips) {
    if (!trial.tally.wants(flip.id) || except.includes(flip.id)) continue;
    const what = `${flip.id} (${flip.story} is swapped) ${dialect.name}`;
    await trial.tally.attempt(what, () => race(dialect, flip, trial, seconds));
  }
}

/**
 * A directory that undo restores gets its mode after it was made: what the attacker put under its name must keep its
 * own mode.
 */
export async function attackNewDirectories(dialect: Dialect, { tally, long, say }: Trial): Promise<void> {
  const names = dialect.tools.map(({ name }) => name);
  if (!tally.wants("A155") || !["undo", "delete_path"].every(name => names.includes(name))) return;
  await tally.attempt(`A155 (a directory that undo makes is replaced) ${dialect.name}`, async () => {
    await using target = await overStdio(dialect);
    const { root, outside } = target.arena;
    const [made, taken] = [join(root, "made"), join(root, "taken")];
    const before = target.arena.fingerprint();
    let replaced = 0;
    for (let round = 0; round < (long ? 100 : 4); round++) {
      for (const path of [made, taken]) mkdirSync(path);
      for (let i = 0; i < newDirectories; i++) {
        const path = join(made, String(i).padStart(3, "0"));
        mkdirSync(path);
        chmodSync(path, 0o770); // no usual umask leaves that
      }
      await sleep(75); // an undo that failed may be undone until then: of what it made, not of what is here now
      if (readdirSync(made).length < newDirectories) throw new Error("directories of ours were removed");
      target.observe(await target.call("delete_path", { path: made, recursive: true }));
      const linked = join(outside, round % 2 ? "sub" : "secret.txt");
      const replacer = attacker("replacer-program.mjs", made, String(newDirectories), taken, linked);
      await replacer.ready;
      target.observe(await target.call("undo", {}));
      replaced += await replacer.stop();
      if (target.arena.fingerprint() !== before) throw new Error("something outside has changed");
      for (const path of [made, taken]) rmSync(path, { recursive: true, force: true });
    }
    say(`A155 ${dialect.name}: ${replaced} replaced`);
    if (replaced === 0) throw new Error("no race: the attacker never came in time");
  });
}

/** The number of attempts to win the race. */
const newDirectories = 200;

async function race(
  dialect: Dialect,
  flip: Flip,
  { tally, say, chance }: Trial,
  seconds: number,
): Promise<void> {
  await using target = await overStdio(dialect);
  const arena = join(target.arena.root, "race");
  using field = new Field(arena);
  const outside = target.arena.fingerprint();
  const attacker = swapper(
    join(arena, flip.name),
    join(arena, `${flip.name}-link`),
    flip.target === undefined ? pipe : join(target.arena.outside, flip.target),
  );
  const met = { answered: 0, refused: 0 };
  let swaps = 0;
  try {
    await attacker.ready; // before that, a tool could take away what is to be swapped
    const calls = chance.shuffled(callsThrough(target, flip));
    const begun = Date.now();
    const isOver = () => {
      const passed = (Date.now() - begun) / 1000;
      return passed > mostSeconds + seconds || (passed > seconds && met.answered + met.refused > fewest);
    };
    let next = 0;
    // Several callers, so that quick calls do not wait for slow ones.
    const caller = async () => {
      while (!isOver()) {
        const answer = await calls[next++ % calls.length]?.();
        if (answer === undefined) throw new Error("there is nothing to call");
        target.observe(answer);
        met[failed(answer) ? "refused" : "answered"]++;
        if (target.arena.fingerprint() !== outside) throw new Error("something outside has changed");
        field.tend();
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
  } finally {
    swaps = await attacker.stop();
  }
  await target.request("ping");
  if (target.arena.fingerprint() !== outside) throw new Error("something outside has changed");
  say(`${flip.id} ${dialect.name}: ${swaps} swaps, ${met.answered} answered, ${met.refused} refused`);
  // An attack that met only one side of the swap proves nothing.
  if (swaps < 20) throw new Error(`the attacker swapped only ${swaps} times`);
  if (met.answered === 0 || met.refused === 0) throw new Error(`no race: ${JSON.stringify(met)}`);
  tally.survived(met.answered + met.refused);
}

/** A call of every tool for every path, in every place that takes one. */
function callsThrough(target: Target, flip: Flip): (() => Promise<Message>)[] {
  const { dialect, arena, spelling } = target;
  const base = dialect.name === "fs" ? "race" : join(arena.root, "race");
  return dialect.tools
    .filter(({ name, effect }) => effect !== "runs" && name !== "set_workspace")
    .flatMap(tool => {
      const extra = "recursive" in tool.input.properties ? { recursive: true } : {};
      return carriersOf(tool, spelling)
        .filter(({ name, decides }) => decides || tool.paths?.some(path => name === `${path}[]`))
        .flatMap(carrier =>
          pathsFor(tool, flip).map(
            path => () => target.call(tool.name, { ...carrier.args(`${base}/${path}`), ...extra }),
          ),
        );
    });
}

/** A call that deletes or moves the whole field ends the race. */
function pathsFor({ name }: Tool, { paths }: Flip): readonly string[] {
  return /delete|move/.test(name) ? paths.filter(path => path !== ".") : paths;
}

/** The files that the tools work on. They are restored through handles, wherever the attacker moved them. */
class Field implements Disposable {
  readonly #handles: readonly number[];

  constructor(base: string) {
    for (const place of ["", "d", "d/sub", "a", "a/sub", "t", "t/sub"]) mkdirSync(join(base, place));
    this.#handles = ["", "d", "d/sub", "a/sub", "t"].map(place => openSync(join(base, place), "r"));
    this.tend();
    writeFileSync(join(base, "f"), "PUBLIC\nSECRET\n");
  }

  /** Puts back what was deleted, moved or changed. Directories that are gone are created again. */
  tend(): void {
    for (const [index, handle] of this.#handles.entries()) {
      if (index === 0) continue;
      for (const make of [
        () => writeFileSync(`/proc/self/fd/${handle}/secret.txt`, "PUBLIC\nSECRET\n"),
        () => rmSync(`/proc/self/fd/${handle}/fresh`, { recursive: true, force: true }),
      ]) {
        try {
          make();
        } catch {}
      }
    }
  }

  [Symbol.dispose](): void {
    for (const handle of this.#handles) closeSync(handle);
  }
}

interface Attacker {
  readonly ready: Promise<void>;
  /** How often it swapped. */
  stop(): Promise<number>;
}

/** The target that means a named pipe (swapper-program.mjs). */
const pipe = "pipe";

function swapper(name: string, link: string, target: string): Attacker {
  return attacker("swapper-program.mjs", name, link, target);
}

/** Starts a program that attacks until it is stopped. */
function attacker(program: string, ...args: readonly string[]): Attacker {
  const script = join(repository, "proof/attack", program);
  const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "ignore"] });
  let said = "";
  child.stdout.on("data", chunk => {
    said += chunk;
  });
  const ended = new Promise<number>(resolve =>
    child.once("close", () => resolve(Number(said.replace("ready", "")))),
  );
  child.stdin.on("error", () => undefined);
  return {
    ready: new Promise<void>(resolve => {
      child.stdout.once("data", () => resolve());
      child.once("close", () => resolve());
    }),
    stop() {
      child.stdin.end();
      return ended;
    },
  };
}
