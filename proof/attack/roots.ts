// The root itself cannot be deleted, moved or replaced, however it is spelled; and files that need an explicit option
// to be overwritten or deleted stay.
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "../../src/contract/tool.ts";
import type { Trial } from "../suite.ts";
import { sample } from "./sample.ts";
import { failed, type Target } from "./target.ts";

export async function attackTheRoot(target: Target, trial: Trial): Promise<void> {
  for (const tool of target.dialect.tools.filter(({ effect }) => effect === "writes")) {
    const [first, second] = tool.paths ?? [];
    if (first === undefined || tool.input.properties[first]?.type !== "string") continue;
    for (const [id, story, args, refused] of attempts(target, tool, first, second)) {
      if (!trial.tally.wants(id)) continue;
      await trial.tally.attempt(`${id} (${story}) ${target.dialect.name} ${tool.name}`, () =>
        attempt(target, tool, args, refused),
      );
    }
  }
}

type Attempt = readonly [id: string, story: string, args: Record<string, unknown>, refused: boolean];

function attempts(target: Target, tool: Tool, first: string, second: string | undefined): Attempt[] {
  const { root } = target.arena;
  const recursive = "recursive" in tool.input.properties ? { recursive: true } : {};
  const overwrite = "overwrite" in tool.input.properties ? { overwrite: true } : {};
  const made = (given: Record<string, unknown>) => sample(tool, target.spelling, given);
  const removes = /delete|move/.test(tool.name);
  const list: Attempt[] = [
    ["A095", "the root", made({ [first]: root, ...recursive }), removes],
    ["A096", "the root with a dot", made({ [first]: `${root}/.`, ...recursive }), removes],
    ["A097", "the root with a slash", made({ [first]: `${root}/`, ...recursive }), removes],
    ["A098", "the root through a link", made({ [first]: `${root}/self-link`, ...recursive }), false],
    ["A098b", "the root behind the link", made({ [first]: `${root}/self-link/.`, ...recursive }), false],
  ];
  // One contract deletes whole directories, and overwrites the target of a move, without an option.
  const cautious = target.dialect.name !== "replay";
  if (/delete/.test(tool.name) && cautious) {
    list.push(["A105", "a directory that is not empty", made({ [first]: `${root}/sub` }), true]);
  }
  if (second !== undefined && tool.input.properties[second]?.type === "string") {
    const pair = (from: string, to: string, more = {}) =>
      made({ [first]: `${root}${from}`, [second]: `${root}${to}`, ...more });
    list.push(
      ["A099", "the root moved away", pair("", "/../moved"), true],
      ["A100", "the root moved into itself", pair("", "/inside"), true],
      ["A101", "a file moved over the root", pair("/pub.txt", "", overwrite), true],
      ["A101b", "a directory moved over the root", pair("/sub", "/.", overwrite), true],
    );
    if (cautious) list.push(["A104", "a file moved over another", pair("/pub.txt", "/other.txt"), true]);
  }
  return list;
}

async function attempt(
  target: Target,
  tool: Tool,
  args: Record<string, unknown>,
  refused: boolean,
): Promise<void> {
  const { root } = target.arena;
  const before = statSync(root).ino;
  const answer = await target.call(tool.name, args);
  const kept = ["pub.txt", "other.txt", "sub/inner.txt"].filter(name => existsSync(join(root, name)));
  const other = readFileSync(join(root, "other.txt"), "utf8");
  await target.inspect(answer);
  if (statSync(root).ino !== before) throw new Error("the root is another directory");
  if (kept.length < 3) throw new Error(`of the root, only ${kept.join(", ")} is left`);
  if (other !== "KEEP\n") throw new Error("a file was overwritten without an option");
  if (refused && !failed(answer)) throw new Error(`was accepted: ${JSON.stringify(answer).slice(0, 300)}`);
}
