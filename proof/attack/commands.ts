// Commands in the sandbox, as a caller gives them to the tools that run them. What a sandboxed process can reach is
// tried in test/shell; here, that each tool really puts its commands there.
import { readdirSync } from "node:fs";
import type { Trial } from "../suite.ts";
import type { Arena } from "./arena.ts";
import { failed, type Target } from "./target.ts";

interface CommandCase {
  readonly id: string;
  readonly story: string;
  command(arena: Arena): string;
}

const commandCases: readonly CommandCase[] = [
  { id: "A183", story: "reads outside", command: ({ outside }) => `cat ${outside}/secret.txt` },
  { id: "A184", story: "writes outside", command: ({ outside }) => `echo x > ${outside}/pwn` },
  { id: "A185", story: "goes up first", command: () => "cd .. && cat outside/secret.txt" },
  { id: "A187", story: "in a substitution", command: ({ outside }) => `echo $(cat ${outside}/secret.txt)` },
  { id: "A188", story: "after a newline", command: ({ outside }) => `true\ncat ${outside}/secret.txt` },
  {
    id: "A189",
    story: "in a process substitution",
    command: ({ outside }) => `bash -c 'cat <(cat ${outside}/secret.txt)'`,
  },
  { id: "A190", story: "after an expansion", command: ({ outside }) => `\${X:-cat} ${outside}/secret.txt` },
  { id: "A195", story: "reads its input", command: () => "cat" },
  {
    id: "A201",
    story: "reads the server's environment",
    command: () => "cat /proc/*/environ; cat /proc/$PPID/environ",
  },
  { id: "A201b", story: "reads its own environment", command: () => "env" },
  {
    id: "A201c",
    story: "through the root of another process",
    command: ({ outside }) => `cat /proc/*/root${outside}/secret.txt`,
  },
  { id: "A203", story: "holds a NUL", command: () => "echo a\0b" },
  {
    id: "A184b",
    story: "deletes outside",
    command: ({ outside }) => `rm -rf ${outside}/sub ${outside}/secret.txt`,
  },
  {
    id: "A184c",
    story: "changes modes outside",
    command: ({ outside }) => `chmod 777 ${outside}/secret.txt`,
  },
];

export async function attackByCommands(target: Target, { tally }: Trial, sandboxed: boolean): Promise<void> {
  const { arena, dialect } = target;
  for (const tool of dialect.tools.filter(
    ({ effect, input }) => effect === "runs" && "command" in input.properties,
  )) {
    for (const one of commandCases) {
      if (!tally.wants(one.id)) continue;
      if (!sandboxed) {
        tally.skipped(one.id, "no sandbox on this machine");
        continue;
      }
      await tally.attempt(`${one.id} (${one.story}) ${dialect.name} ${tool.name}`, async () =>
        target.inspect(await target.call(tool.name, { command: one.command(arena) })),
      );
    }
    if (!sandboxed || !tally.wants("A200")) continue;
    await tally.attempt(`A200 (plants a link) ${dialect.name} ${tool.name}`, async () => {
      const planted = await target.call(tool.name, { command: `ln -s ${arena.outside}/secret.txt planted` });
      if (failed(planted) || !readdirSync(arena.root).includes("planted"))
        throw new Error(`no link was planted: ${JSON.stringify(planted).slice(0, 300)}`);
      const reader = dialect.tools.find(({ name }) => name === "read_file")?.name ?? "";
      await target.inspect(await target.call(reader, { path: `${arena.root}/planted` }));
    });
  }
}
