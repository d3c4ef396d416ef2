// Power cuts on real file systems. One or two servers work on one in a loop device; the device's backing file is copied
// at a random moment after an answer, which is what the disk held then; the copy is mounted in its place, and a server
// of the next boot is asked for everything that was answered. Sometimes its recovery loses the power, too.
import { spawnSync } from "node:child_process";
import {
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import { end, ServerUnderTest, told } from "../fault/server-under-test.ts";
import type { Trial } from "../suite.ts";
import { judge } from "./judge.ts";
import { changesIn, preload, type Step } from "./session.ts";
import { beginning, nextCall } from "./work.ts";

const kinds: Readonly<Record<string, { size: number; make: readonly string[]; mount: string }>> = {
  ext4: { size: 64e6, make: ["mkfs.ext4", "-q", "-F"], mount: "commit=300" },
  // The original may still be mounted when its copy is: XFS refuses a second one with the same UUID otherwise.
  xfs: { size: 320e6, make: ["mkfs.xfs", "-q", "-f"], mount: "nouuid" },
  btrfs: { size: 128e6, make: ["mkfs.btrfs", "-q", "-f"], mount: "commit=300" },
};

/** Recoveries that lose the power in a row. */
const mostRecoveries = 2;

export async function cutDevices(trial: Trial, rounds: number): Promise<void> {
  for (const kind of Object.keys(kinds)) {
    const id = `P1-${kind}`;
    if (!trial.tally.wants(id)) continue;
    for (let round = 0; round < rounds; round++) {
      const why = await cutDevice(trial, kind, `${id} (round ${round})`);
      if (why === undefined) continue;
      trial.tally.skipped(id, why);
      break;
    }
  }
}

/** Why it could not be tried, if it could not. */
async function cutDevice(trial: Trial, kind: string, what: string): Promise<string | undefined> {
  const { tally, chance } = trial;
  const base = realpathSync(mkdtempSync(join(tmpdir(), "polyfs-device-")));
  const [image, copy, again, at] = ["image", "copy", "again", "at"].map(name => join(base, name)) as [
    string,
    string,
    string,
    string,
  ];
  const how = kinds[kind];
  if (how === undefined) return "unknown";
  writeFileSync(image, "");
  truncateSync(image, how.size);
  mkdirSync(at);
  const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  const mount = (file: string) => run("mount", "-o", `loop,${how.mount}`, file, at);
  try {
    const [make = "", ...args] = how.make;
    if (!run(make, ...args, image)) return `needs ${make}`;
    if (!mount(image)) return "needs permission to mount loop devices";
    await tally.attempt(what, async () => {
      const server = new ServerUnderTest(beginning, join(at, "base"));
      spawnSync("sync", ["-f", at]);
      const steps: Step[] = [{ what: "the beginning", tree: server.tree() }];
      const wires = [await server.serve()];
      if (chance.below(2) === 0) wires.push(await server.serve());
      for (const calls = 2 + chance.below(20); steps.length <= calls; ) {
        const [tool, args] = nextCall(server.tree(), steps.length, chance);
        await told(chance.pick(wires), tool, args).catch(() => undefined);
        steps.push({ what: tool, tree: server.tree() });
        if (chance.next() < 0.2) await sleep(chance.below(100));
      }
      await sleep(chance.pick([0, 5, 60, 400, 1500]));
      copyDisk(wires, image, copy);
      const ids = changesIn(await told(chance.pick(wires), "list_changes", { limit: 200 }));
      for (const wire of wires) await end(wire);
      run("umount", "-l", at);
      if (!mount(copy)) throw new Error("the copy cannot be mounted");
      let boot = 0;
      for (; boot < mostRecoveries && chance.below(3) === 0; boot++) {
        const wire = await serveNextBoot(server, base, boot);
        const answered = told(wire, "list_directory", {}).catch(() => undefined);
        await sleep(chance.below(60));
        copyDisk([wire], copy, again);
        await end(wire);
        await answered;
        run("umount", "-l", at);
        renameSync(again, copy);
        if (!mount(copy)) throw new Error("the copy of a recovery cannot be mounted");
      }
      const next = await serveNextBoot(server, base, boot);
      try {
        await judge(next, server, withChanges(steps, ids), steps.length - 1, () => false);
      } finally {
        await end(next);
      }
    });
    return undefined;
  } finally {
    run("umount", "-l", at);
    rmSync(base, { recursive: true, force: true });
  }
}

/** What the disk holds now. The servers stand still meanwhile. */
function copyDisk(wires: readonly ProcessWire[], from: string, to: string): void {
  for (const wire of wires) wire.child.kill("SIGSTOP");
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
  for (const wire of wires) wire.child.kill("SIGCONT");
}

/** A server that sees another boot of the machine, and a later time. */
function serveNextBoot(server: ServerUnderTest, base: string, boot: number): Promise<ProcessWire> {
  const map = join(base, "map");
  writeFileSync(map, "[]");
  const later = { PROOF_POWER_BOOT: String(boot), PROOF_POWER_OFF: String((boot + 1) * 1_200_000) };
  return server.serve({ env: { ...preload, PROOF_POWER_MAP: map, ...later } });
}

function withChanges(steps: readonly Step[], newestFirst: readonly string[]): Step[] {
  const ids = [...newestFirst];
  return steps.map((step, i) => {
    const same = i === 0 || JSON.stringify(step.tree) === JSON.stringify(steps[i - 1]?.tree);
    const change = same ? undefined : ids.pop();
    return change === undefined ? step : { ...step, change };
  });
}
