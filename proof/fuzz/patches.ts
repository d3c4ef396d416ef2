// Patches into the parsers, in both notations: random lines of their vocabulary, and valid patches with a few bytes or
// lines exchanged. They give a patch or a Fault, in time, and a patch gives a text or a Fault.
import { applyFilePatch } from "../../src/engine/edit/hunks.ts";
import { createdContent, parsePatch } from "../../src/engine/edit/patch.ts";
import { Fault } from "../../src/engine/fault.ts";
import { decode, encode } from "../../src/engine/text/text.ts";
import type { Chance } from "../chance.ts";
import type { Trial } from "../suite.ts";
import { oddString } from "./odd.ts";

const vocabulary = [
  "--- a/f.txt",
  "+++ b/f.txt",
  "--- /dev/null",
  "+++ /dev/null",
  "+++ b/g.txt",
  "diff --git a/f.txt b/f.txt",
  "diff --git a/f.txt b/g.txt",
  'diff --git "a/f\\303\\251.txt" "b/f\\n.txt"',
  "index 1234567..89abcde 100644",
  "new file mode 100755",
  "deleted file mode 100644",
  "old mode 100644",
  "new mode 100755",
  "similarity index 90%",
  "rename from f.txt",
  "rename to g.txt",
  "copy from f.txt",
  "copy to g.txt",
  "GIT binary patch",
  "Binary files a/f and b/f differ",
  "@@ -1,3 +1,3 @@",
  "@@ -0,0 +1,2 @@",
  "@@ -1 +1 @@ function",
  "@@ -99999999999999999999,1 +1,1 @@",
  "@@ -1,1 +1,4294967296 @@",
  "@@ -a,b +c,d @@",
  "@@",
  "@@ class X",
  " one",
  "-two",
  "+2",
  " three",
  "+",
  "-",
  " ",
  "",
  "\\ No newline at end of file",
  "*** Begin Patch",
  "*** End Patch",
  "*** Add File: new.txt",
  "*** Update File: f.txt",
  "*** Delete File: f.txt",
  "*** Move to: g.txt",
  "*** End of File",
  "*** Environment ID: x",
];

const inOrder = [
  "--- a/f.txt\n+++ b/f.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
  "*** Begin Patch\n*** Update File: f.txt\n@@\n one\n-two\n+2\n three\n*** End Patch\n",
  "diff --git a/f.txt b/g.txt\nrename from f.txt\nrename to g.txt\n--- a/f.txt\n+++ b/g.txt\n@@ -1 +1 @@\n-one\n+1\n",
  "*** Begin Patch\n*** Add File: n.txt\n+a\n+b\n*** Delete File: f.txt\n*** End Patch",
];

const bodies = ["one\ntwo\nthree\n", "one\r\ntwo\r\nthree\r\n", "one\ntwo\nthree", "", "two\n".repeat(2000)];
const slowMs = 5000;

export async function patches({ chance, tally }: Trial, rounds: number): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const patch = patchOf(chance);
    const body = chance.pick(bodies);
    await tally.attempt(`patch ${JSON.stringify(patch.slice(0, 2000))}`, async () => {
      const before = process.cpuUsage();
      await applied(patch, body);
      const { user, system } = process.cpuUsage(before); // processor time: on a busy machine, the clock includes other processes
      const took = (user + system) / 1000;
      if (took > slowMs) throw new Error(`it took ${Math.round(took)} ms`);
    });
  }
}

async function applied(patch: string, body: string): Promise<void> {
  try {
    for (const file of parsePatch(patch)) {
      if (file.kind === "create") await encode("f.txt", createdContent(file));
      else applyFilePatch(await decode("f.txt", Buffer.from(body)), file);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

function patchOf(chance: Chance): string {
  if (chance.below(3) === 0) {
    const lines = Array.from({ length: chance.below(40) }, () => chance.pick(vocabulary));
    return lines.join(chance.pick(["\n", "\n", "\r\n"]));
  }
  const lines = chance.pick(inOrder).split("\n");
  for (let changes = 1 + chance.below(4); changes > 0; changes--) {
    const at = chance.below(lines.length);
    const roll = chance.below(5);
    if (roll === 0) lines.splice(at, 1);
    else if (roll === 1) lines.splice(at, 0, chance.pick(vocabulary));
    else if (roll === 2) lines.splice(at, 0, ...lines.slice(0, chance.below(lines.length)));
    else if (roll === 3) lines[at] = oddString(chance);
    else {
      const line = lines[at] ?? "";
      const cut = chance.below(line.length + 1);
      lines[at] =
        line.slice(0, cut) + chance.pick(["-", "+", "\t", "\0", '"', "9", "\ud800"]) + line.slice(cut + 1);
    }
  }
  return lines.join("\n");
}
