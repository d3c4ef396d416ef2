// The server is killed at random instants while it works, and started again: the tree is the result of a whole number
// of its calls, at least those that it had acknowledged.
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessWire } from "../../test/mcp/wire.ts";
import type { Trial } from "../suite.ts";
import { end, ServerUnderTest, told } from "./server-under-test.ts";

interface Work {
  readonly id: string;
  readonly story: string;
  readonly files: Readonly<Record<string, string>>;
  /** The call that leads from one step to the next. */
  step(number: number): readonly [tool: string, args: Record<string, unknown>];
  /** Which step the tree shows; throws if it is none. */
  shown(tree: Readonly<Record<string, string>>): number;
  /** Steps that look alike come again after so many. */
  readonly cycle?: number;
}

const many = Array.from({ length: 10 }, (_, i) => `f${i}`);
const version = (number: number) => `version ${number}\n`;
const large = (number: number) => `${String(number).padStart(15, "0")}\n`.repeat(262_144);

const works: readonly Work[] = [
  {
    id: "R001",
    story: "a file of 4 MB is overwritten",
    files: { big: large(0) },
    step: number => ["write_file", { path: "big", content: large(number) }],
    shown: ({ big = "", ...others }) => {
      const number = Number(big.slice(0, 15));
      if (big !== large(number) || Object.keys(others).length > 0) throw new Error("torn");
      return number;
    },
  },
  {
    id: "R004",
    story: "ten files are patched",
    files: Object.fromEntries(many.map(name => [name, version(0)])),
    step: number => ["apply_patch", { patch: many.map(name => hunk(name, number)).join("") }],
    shown: tree => {
      const texts = new Set(Object.values(tree));
      const number = Number(/^version (\d+)\n$/.exec([...texts][0] ?? "")?.[1]);
      if (texts.size !== 1 || Object.keys(tree).join() !== many.join()) throw new Error(JSON.stringify(tree));
      return number;
    },
  },
  {
    id: "R101",
    story: "a directory is moved",
    files: { "a/x": "x", "a/y/z": "z", "elsewhere/keep": "k" },
    step: number => [
      "move_path",
      number % 2 === 1 ? { from: "a", to: "elsewhere/b" } : { from: "elsewhere/b", to: "a" },
    ],
    cycle: 2,
    shown: tree => {
      const at = "a" in tree ? "a" : "elsewhere/b";
      const expected = {
        [at]: "/",
        [`${at}/x`]: "x",
        [`${at}/y`]: "/",
        [`${at}/y/z`]: "z",
        elsewhere: "/",
        "elsewhere/keep": "k",
      };
      same(tree, expected);
      return at === "a" ? 0 : 1;
    },
  },
  {
    id: "R102",
    story: "a directory is deleted, and made again",
    files: Object.fromEntries(many.map(name => [`d/${name}`, name])),
    step: number =>
      number % 2 === 1
        ? ["delete_path", { path: "d", recursive: true }]
        : [
            "apply_patch",
            {
              patch: many
                .map(
                  name =>
                    `--- /dev/null\n+++ d/${name}\n@@ -0,0 +1 @@\n+${name}\n\\ No newline at end of file\n`,
                )
                .join(""),
            },
          ],
    cycle: 2,
    shown: tree => {
      if (Object.keys(tree).length === 0) return 1;
      same(tree, { d: "/", ...Object.fromEntries(many.map(name => [`d/${name}`, name])) });
      return 0;
    },
  },
  {
    id: "R103",
    story: "changes are made and undone",
    files: { a: "old", b: "old" },
    step: number =>
      number % 2 === 1 ? ["replace_in_files", { paths: ["a", "b"], old: "old", new: "new" }] : ["undo", {}],
    cycle: 2,
    shown: tree => {
      const [a] = [tree.a ?? ""];
      same(tree, { a, b: a });
      return a === "old" ? 0 : 1;
    },
  },
];

export async function killAtRandom(trial: Trial, rounds: number): Promise<void> {
  for (const work of works.filter(({ id }) => trial.tally.wants(id))) {
    await using server = new ServerUnderTest(work.files);
    let wire = await server.serve();
    let from = 0;
    for (let round = 0; round < rounds; round++) {
      const delay = trial.chance.next() * 60;
      const what = `${work.id} (${work.story}), killed ${delay.toFixed(1)} ms in, round ${round}`;
      await trial.tally.attempt(what, async () => {
        const done = await workUntilKilled(wire, work, from, delay);
        wire = await server.serve();
        await told(wire, "list_directory", {});
        server.orderly();
        from = fitting(work, work.shown(server.tree()), done);
        await told(wire, "list_changes", {});
      });
    }
  }
}

interface Done {
  readonly acknowledged: number;
  readonly begun: number;
}

async function workUntilKilled(wire: ProcessWire, work: Work, from: number, delay: number): Promise<Done> {
  let [acknowledged, begun] = [from, from];
  const kill = sleep(delay).then(() => end(wire));
  try {
    for (;;) {
      await told(wire, ...work.step(++begun));
      acknowledged = begun;
    }
  } catch (error) {
    await kill;
    if (!/the server has left/.test(String(error))) throw error;
  }
  return { acknowledged, begun };
}

/** The step that was reached: the last acknowledged one, or the one that was under way. */
function fitting({ cycle }: Work, shown: number, { acknowledged, begun }: Done): number {
  for (let step = acknowledged; step <= begun; step++)
    if ((cycle === undefined ? step : step % cycle) === shown) return step;
  throw new Error(`step ${acknowledged} was acknowledged, ${begun} begun, and the tree shows ${shown}`);
}

function hunk(name: string, number: number): string {
  return `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${version(number - 1)}+${version(number)}`;
}

function same(tree: Readonly<Record<string, string>>, expected: Readonly<Record<string, string>>): void {
  const text = (one: Readonly<Record<string, string>>) => JSON.stringify(Object.entries(one).sort());
  if (text(tree) !== text(expected)) throw new Error(`the tree is ${text(tree)}`);
}
