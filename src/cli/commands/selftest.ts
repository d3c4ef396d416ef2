// `polyfs selftest`: whether polyfs does on this machine what it promises, as a report to send.
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { errnoOf, errnoWords } from "../../engine/workspace/errno.ts";
import { heldBy, isRaceFree } from "../../engine/workspace/handle.ts";
import { fileSystemOf } from "../../engine/workspace/system/file-system.ts";
import type { Report } from "../../selftest/selftest.ts";
import { version } from "../../version.ts";
import { fromHome } from "../layer.ts";
import { print } from "../print.ts";
import { UsageError } from "../usage-error.ts";
import { command } from "./command.ts";

const usualSeconds = 10;

export const selftest = command({
  name: "selftest",
  operands: "[DIR]",
  description:
    "Tests polyfs on this machine: reading, writing and undoing; attempts to escape a root by paths, links and races; two servers on one file; servers that are killed in the middle of changes. It works in a temporary directory, inside DIR if one is given, to test its file system, and touches nothing else. It takes about a minute and prints a report to send. Exits with 1 if something failed.",
  own: {
    json: { help: "Print the report as JSON" },
    seconds: {
      value: "N",
      help: `Duration of the race; the rest scales with it (default ${usualSeconds})`,
    },
  },
  options: [],
  examples: [
    ["polyfs selftest", "test polyfs in the temporary directory"],
    ["polyfs selftest /Volumes/Stick", "test polyfs on this volume"],
  ],
  most: 1,
  async run({ operands, own }) {
    const seconds = Number(own.get("seconds") ?? usualSeconds);
    if (!(seconds > 0)) throw new UsageError("--seconds takes a number greater than 0");
    const within = resolve(fromHome(operands[0] ?? tmpdir()));
    const { selftest: test } = await import("../../selftest/selftest.ts");
    const program = process.argv[1] ?? "";
    const asked = { program, within, seconds, method: heldBy(), isRaceFree: isRaceFree() };
    const { facts, sections } = await test(asked, name => void process.stderr.write(`${name} ...\n`)).catch(
      error => {
        throw ofDirectory(error, within) ?? error;
      },
    );
    const report = {
      facts: { polyfs: version, ...facts, "file system": fileSystemOf(within).kind },
      sections,
    };
    await print(
      process.stdout,
      own.has("json") ? `${JSON.stringify(report, undefined, 2)}\n` : shown(report),
    );
    return sections.some(({ failures }) => failures.length > 0) ? 1 : 0;
  },
});

/** Why there can be no temporary directory in this one, if that is what an error is about. */
function ofDirectory(error: NodeJS.ErrnoException, within: string): UsageError | undefined {
  const errno = error.syscall === "mkdtemp" ? errnoOf(error) : undefined;
  if (errno === undefined) return undefined;
  const isMissing = errno === "ENOENT" || errno === "ENOTDIR";
  return new UsageError(
    isMissing
      ? `no such directory: ${within}`
      : `no directory can be made in ${within}: ${errnoWords(errno)}`,
  );
}

function shown({ facts, sections }: Report): string {
  const lines = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
  for (const { name, tried, failures, notes } of sections) {
    lines.push(
      `${failures.length === 0 ? "ok  " : "FAIL"}  ${name}: ${tried} tried, ${failures.length} failed`,
    );
    for (const note of notes) lines.push(`      ${note}`);
    for (const failure of failures.slice(0, 20)) lines.push(`      - ${failure}`);
  }
  const failed = sections.reduce((sum, { failures }) => sum + failures.length, 0);
  const tried = sections.reduce((sum, section) => sum + section.tried, 0);
  return `${lines.join("\n")}\nselftest: ${tried} tried, ${failed} failed\n`;
}
