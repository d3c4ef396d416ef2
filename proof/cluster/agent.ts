// An agent that works on whichever replica answers. It notes the answer: done, refused, or nothing.
import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "../chance.ts";
import { type Answer, NoAnswer } from "../client/client.ts";
import type { Cluster } from "./cluster.ts";

export interface ClusterDeed {
  readonly token: string;
  readonly how: "edit" | "write" | "run" | "move" | "undo" | "read";
  /** `stale`: a read without a change that had been answered, which did not say that it was old. */
  readonly told: "done" | "refused" | "nothing" | "stale";
  readonly said: string;
  /** How long until the answer. */
  readonly ms: number;
}

/** The line of an agent in a shared file: its tokens come right above it. */
export function anchor(agent: number): string {
  return `-- agent ${agent} --`;
}

export async function work(
  cluster: Cluster,
  agent: number,
  files: readonly string[],
  chance: Chance,
  until: () => boolean,
): Promise<ClusterDeed[]> {
  const deeds: ClusterDeed[] = [];
  const name = `agent${agent}`;
  /** The last file that it was told it has written. */
  let written: { readonly path: string; readonly token: string } | undefined;
  for (let n = 0; !until(); n++) {
    const token = `<${agent}.${n}>`;
    const how = chance.pick([
      "edit",
      "edit",
      "edit",
      "edit",
      "write",
      "move",
      "run",
      "undo",
      "read",
    ] as const);
    const began = performance.now();
    if (how === "read" && written === undefined) continue;
    const { told, said } = await tell(async i => {
      switch (how) {
        case "edit": {
          const edits = [{ old: anchor(agent), new: `${token}\n${anchor(agent)}` }];
          return await cluster.call(i, name, "edit_file", { path: chance.pick(files), edits });
        }
        case "write": {
          const path = `${name}/w${n}.txt`;
          const made = await cluster.call(i, name, "write_file", { path, content: `${token}\n` });
          if (!made.failed) written = { path, token };
          return made;
        }
        case "read":
          return await cluster.call(i, name, "read_file", { path: written?.path ?? "" });
        case "move": {
          const path = `${name}/m${n}.txt`;
          const made = await cluster.call(i, name, "write_file", { path, content: `${token}\n` });
          if (made.failed) return made;
          return await cluster.call(i, name, "move_path", { from: path, to: `moved/${name}-${n}.txt` });
        }
        case "run": {
          const command = `mkdir -p ${name} && echo '${token}' >> ${name}/run.txt; sleep 0.${chance.below(4)}`;
          return await cluster.call(i, name, "run_command", { command });
        }
        case "undo": {
          const path = `${name}/u${n}.txt`;
          // Long enough for commands of other agents to begin or end meanwhile.
          const command = `mkdir -p ${name} && echo '${token}' > ${path}; sleep 0.${chance.below(4)}`;
          const made = await cluster.call(i, name, "run_command", { command });
          const [, change] = /^change ([0-9a-z]+)/m.exec(made.text) ?? [];
          if (made.failed || change === undefined) return { text: made.text, failed: true };
          const undone = await cluster.call(i, name, "undo", { change });
          if (!undone.failed || !undone.text.includes("of others ran at the same time")) return undone;
          return await cluster.call(i, name, "undo", { change, path });
        }
      }
    });
    const misses = how === "read" && isAboutTheFile(said) && !said.includes(written?.token ?? "");
    const isStale = misses && told !== "nothing";
    deeds.push({ token, how, told: isStale ? "stale" : told, said, ms: performance.now() - began });
    await pause(chance.below(60));
  }
  return deeds;

  async function tell(
    action: (replica: number) => Promise<Answer>,
  ): Promise<Pick<ClusterDeed, "told" | "said">> {
    try {
      const { text, failed } = await action(chance.below(cluster.count));
      return { told: failed ? "refused" : "done", said: text };
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      await pause(20);
      return { told: "nothing", said: error.message };
    }
  }
}

/** Whether an answer is current: it does not say that the store is unreachable. */
function isAboutTheFile(said: string): boolean {
  return !/shared store|server is|too many/i.test(said);
}
