import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import type { Chance } from "../chance.ts";
import { end, ServerUnderTest, told } from "../fault/server-under-test.ts";
import { repository } from "../places.ts";
import { Recording } from "./recording.ts";
import {
  areOfOthers,
  beginning,
  type Call,
  difference,
  nameOfOthers,
  nextCall,
  nextEdits,
  type Tree,
} from "./work.ts";

/** After a call that was answered: the tree, and the change that history must show, if there is one. */
export interface Step {
  readonly what: string;
  readonly tree: Tree;
  readonly change?: string;
  /** The last of the calls that were sent at once with this one: all of them may happen before the first answer. */
  readonly until?: number;
}

export interface Worked {
  readonly recording: Recording;
  readonly server: ServerUnderTest;
  /** The first is the beginning. */
  readonly steps: readonly Step[];
}

const script = pathToFileURL(join(repository, "proof/power/recorder-program.mjs")).href;
export const preload = { NODE_OPTIONS: `--import ${script}` };

/**
 * Lets servers work, one or two at a time: each ends in good order or is killed. Two take turns, so that the order of
 * their calls is known; what they do after an answer happens at once.
 */
export async function recordWork(chance: Chance, calls: number): Promise<Worked> {
  const server = new ServerUnderTest(beginning);
  const recording = new Recording(server.base);
  const log = join(mkdtempSync(join(tmpdir(), "polyfs-power-")), "log");
  const steps: Step[] = [{ what: "the beginning", tree: server.tree() }];
  try {
    while (steps.length <= calls) {
      const wires: ProcessWire[] = [];
      for (let count = chance.pick([1, 2]); count > 0; count--) {
        const slow = String(chance.pick([0, 0, 20, 100])); // milliseconds that a flush takes at most
        const env = { ...preload, PROOF_POWER_LOG: log, PROOF_POWER_SLOW: slow };
        wires.push(await server.serve({ env }));
      }
      const last = Math.min(calls, steps.length + 10 + chance.below(30));
      while (steps.length <= last) {
        if (chance.next() < 0.2) await editAtOnce(steps, server, chance.pick(wires), chance);
        const [tool, args] =
          chance.next() < 0.3
            ? writeInNewDirectory(steps.length, server, log, chance)
            : nextCall(server.tree(), steps.length, chance);
        // A call that does not fit the tree changes nothing.
        await told(chance.pick(wires), tool, args).catch(() => undefined);
        steps.push({ what: `${tool} ${JSON.stringify(args).slice(0, 200)}`, tree: server.tree() });
        if (chance.next() < 0.3) await sleep(chance.below(150));
      }
      for (const wire of wires) await (chance.next() < 0.5 ? end(wire) : leave(wire));
    }
    const text = readFileSync(log, "utf8");
    recording.add(text.slice(0, text.lastIndexOf("\n") + 1));
    return { recording, server, steps: await named(steps, server) };
  } finally {
    rmSync(join(log, ".."), { recursive: true, force: true });
  }
}

/** Another program makes a directory, or two, or moves some; a call that writes a file there. */
function writeInNewDirectory(number: number, server: ServerUnderTest, log: string, chance: Chance): Call {
  const tree = server.tree();
  const theirs = Object.keys(tree).filter(areOfOthers);
  const isEmpty = (path: string) => theirs.every(other => !other.startsWith(`${path}/`));
  const isBare = (path: string) =>
    Object.keys(tree).every(other => !other.startsWith(`${path}/`) || areOfOthers(other));
  const name = nameOfOthers(number);
  const write = (directory: string): Call => [
    "write_file",
    { path: `${directory}/a`, content: `${number}\n` },
  ];
  const run = (program: string) => asOther(program, server, log);
  const moved = theirs.filter(path => isBare(path) && !isEmpty(path));
  if (moved.length > 0 && chance.next() < 0.5) {
    const from = chance.pick(moved);
    const inner = chance.pick(theirs.filter(path => path.startsWith(`${from}/`)));
    run(`fs.renameSync(${JSON.stringify(from)}, "${name}")`);
    return write(name + inner.slice(from.length));
  }
  // In a directory that a call has made, it would keep the undo of that call from removing it.
  const above = chance.pick(["", ...theirs.map(path => `${path}/`)]);
  const made = [`${above}${name}`, `${above}${name}/${name}`, `${above}${name}/${name}/${name}`];
  const some = made.slice(0, 1 + chance.below(3));
  run(`for (const path of ${JSON.stringify(some)}) fs.mkdirSync(path)`);
  if (some.length === 1 || chance.next() < 0.5) return write(some.at(-1) ?? "");
  // They have been on the disk for a while, until they are moved.
  run(`for (const path of ${JSON.stringify(["..", ".", ...above.split("/").slice(0, -1), ...some])}) {
    if (!fs.existsSync(path)) continue;
    const fd = fs.openSync(path, "r");
    fs.fsyncSync(fd);
    const { ino, ctimeMs } = fs.fstatSync(fd);
    if (!path.startsWith(".")) fs.appendFileSync(${JSON.stringify(`${log}-at-rest`)}, ino + " " + ctimeMs + "\\n");
    fs.closeSync(fd);
  }`);
  return ["list_directory", {}];
}

/** Runs a program of someone else in the tree, recorded as well. */
function asOther(program: string, { root }: ServerUnderTest, log: string): void {
  const env = { ...process.env, ...preload, PROOF_POWER_LOG: log };
  const given = ["-e", `const fs = require("node:fs"); ${program}`];
  const { status, stderr } = spawnSync(process.execPath, given, { cwd: root, env });
  if (status !== 0) throw new Error(`another program failed: ${stderr}`);
}

/** Sends edits of one file at once. They are made in the order in which they were sent. */
async function editAtOnce(
  steps: Step[],
  server: ServerUnderTest,
  wire: ProcessWire,
  chance: Chance,
): Promise<void> {
  const edits = nextEdits(server.tree(), steps.length, chance);
  if (edits === undefined) return;
  const { path, lines } = edits;
  const until = steps.length + lines.length - 1;
  let tree = server.tree();
  const send = (line: string) => told(wire, "edit_file", { path, edits: [{ insert_after: 0, new: line }] });
  const sent = lines.map(send);
  for (const line of lines) {
    tree = { ...tree, [path]: `${line}${tree[path]}` };
    steps.push({ what: `one of ${lines.length} edits of ${path}: ${line.trim()}`, tree, until });
  }
  await Promise.all(sent);
  if (server.tree()[path] !== tree[path]) throw new Error(`edits of ${path} are not in their order`);
}

/** The steps with the changes that they made, which a server tells when all is over: asking sooner would record them. */
async function named(steps: readonly Step[], server: ServerUnderTest): Promise<Step[]> {
  const wire = await server.serve();
  const ids = changesIn(await told(wire, "list_changes", { limit: 200 }));
  await end(wire);
  const isChange = (step: Step, i: number) =>
    i > 0 && difference(step.tree, steps[i - 1]?.tree ?? {}) !== undefined;
  const changes = steps.filter(isChange).length;
  if (changes !== ids.length)
    throw new Error(`${changes} calls changed the tree, and history shows ${ids.length}`);
  return steps.map((step, i) => {
    const change = isChange(step, i) ? ids.pop() : undefined;
    return change === undefined ? step : { ...step, change };
  });
}

/** The ids in a list of changes, newest first. */
export function changesIn(listed: string): string[] {
  return [...listed.matchAll(/^(\w{11,14}) · /gm)].map(([, id = ""]) => id);
}

async function leave(wire: ProcessWire): Promise<void> {
  wire.child.stdin?.end();
  await wire.exited();
}
