// Patches that git makes of random changes, applied here and by `git apply`: the bytes are the same, or the patch is
// refused; on the file that it was made from it is never refused. Each is tried as it is, with CRLF throughout, and with
// a mark about the last line where there is none. What git refuses may be applied, but no two lines become one.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyFilePatch } from "../../src/engine/edit/hunks.ts";
import { parsePatch } from "../../src/engine/edit/patch.ts";
import { Fault } from "../../src/engine/fault.ts";
import { decode } from "../../src/engine/text/text.ts";
import { changed, fixture } from "../merge/texts.ts";
import type { Suite, Trial } from "../suite.ts";

export const patchSuite: Suite = {
  name: "patch",
  async run(trial) {
    const directory = mkdtempSync(join(tmpdir(), "polyfs-patch-"));
    const until = trial.minutes === undefined ? 0 : Date.now() + trial.minutes * 60_000;
    try {
      execFileSync("git", ["init", "-q"], { cwd: directory });
      do {
        for (let i = trial.long ? 5000 : 150; i > 0; i--) await onePatch(trial, directory);
      } while (Date.now() < until);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

async function onePatch({ chance, tally }: Trial, directory: string): Promise<void> {
  const start = fixture(chance, 30);
  const [base, after] = [start.lines.join(""), changed(start, chance).join("")];
  if (base === after || after === "" || base === "") return;
  const context = chance.below(4);
  const patch = patchOf(directory, base, after, context);
  const what = JSON.stringify({ base, patch });
  await tally.attempt(`made from this file ${what}`, async () => {
    const made = await applied(base, patch);
    if (made !== after) throw new Error(`gave ${JSON.stringify(made)}`);
  });
  // Without context, git compares the last line of a file without its ending.
  if (context === 0 && patch.includes("\n\\ No newline")) return;
  const other = changed(start, chance).join("");
  await tally.attempt(`on another file ${what} ${JSON.stringify(other)}`, async () => {
    const made = await applied(other, patch);
    if (made === undefined) return;
    const wanted = byGit(directory, other, patch, context);
    // Git joins lines where it takes a last line without a break for one inside a file.
    if (wanted === undefined || newLines(wanted, other, patch).length > 0) refuseNewLines(made, other, patch);
    else if (made !== wanted) throw new Error(`gave ${JSON.stringify(made)}, git ${JSON.stringify(wanted)}`);
  });
  const lines = patch.split("\n");
  const changes = lines.flatMap((line, i) => (/^[-+](?![-+]{2} )/.test(line) ? [i] : []));
  const marked = lines.toSpliced(chance.pick(changes) + 1, 0, "\\ No newline at end of file").join("\n");
  await tally.attempt(`with a stray mark ${JSON.stringify({ base, marked })}`, async () => {
    const made = await applied(base, marked);
    if (made !== undefined) refuseNewLines(made, base, marked);
  });
  // A file with one kind of ending keeps it, whatever the patch came with.
  await tally.attempt(`with CRLF ${what}`, async () => {
    const wire = patch.replace(/\r?\n/g, "\r\n");
    for (const ending of ["\n", "\r\n"]) {
      const as = (text: string) => text.replace(/\r?\n/g, ending);
      if (!as(base).includes(ending)) continue;
      const made = await applied(as(base), wire);
      if (made !== undefined && made !== as(after)) throw new Error(`gave ${JSON.stringify(made)}`);
    }
  });
}

function refuseNewLines(made: string, content: string, patch: string): void {
  const odd = newLines(made, content, patch);
  if (odd.length > 0) throw new Error(`gave the lines ${JSON.stringify(odd)}`);
}

/** The lines of a file that are neither ones that it had nor ones that the patch adds. */
function newLines(made: string, content: string, patch: string): string[] {
  const linesOf = (text: string) => text.split("\n").map(line => line.replace(/\r$/, ""));
  const known = new Set([...linesOf(content), ...linesOf(patch).map(line => line.slice(1))]);
  return linesOf(made).filter(line => !known.has(line));
}

/** Undefined if it is refused. */
async function applied(content: string, patch: string): Promise<string | undefined> {
  try {
    const [file] = parsePatch(patch);
    if (file === undefined) throw new Error("no file");
    return applyFilePatch(await decode("f", Buffer.from(content)), file).text.bytes.toString();
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function patchOf(directory: string, base: string, after: string, context: number): string {
  writeFileSync(join(directory, "a"), base);
  writeFileSync(join(directory, "b"), after);
  const args = ["diff", "--no-index", "--full-index", `-U${context}`, "a", "b"];
  const { stdout } = spawnSync("git", args, { cwd: directory });
  return stdout
    .toString()
    .replace("diff --git a/a b/b", "diff --git a/f b/f")
    .replace("--- a/a", "--- a/f")
    .replace("+++ b/b", "+++ b/f");
}

function byGit(directory: string, content: string, patch: string, context: number): string | undefined {
  const file = join(directory, "f");
  writeFileSync(file, content);
  const zero = context === 0 ? ["--unidiff-zero"] : [];
  const args = ["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", ...zero, "-"];
  const { status } = spawnSync("git", args, { cwd: directory, input: patch });
  return status === 0 ? readFileSync(file, "utf8") : undefined;
}
