// How often a large content that a commit replaced is read for its record. Without /proc a file is opened by a name in
// the working directory, and the test cannot tell which one it is.
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { byDescriptor } from "../../src/engine/workspace/system/descriptors.ts";
import { watching } from "./failing.ts";
import { Fixture } from "./fixture.ts";

const old = "a line of text\n".repeat(20_000);

/** Replaces the file. Resolves to how often the old one was opened afterwards, and the hash that its record has. */
async function replaced(fixture: Fixture, onClosed = (_times: number) => {}) {
  const { ino } = statSync(join(fixture.inside, "a"));
  let [opened, isOpen, isCommitted] = [0, false, false];
  await watching(
    (_, name, [address]) => {
      if (!isCommitted) return;
      if (name === "open" && statSync(address as string, { throwIfNoEntry: false })?.ino === ino) {
        opened++;
        isOpen = true;
      } else if (name === "close" && isOpen) {
        isOpen = false;
        onClosed(opened);
      }
    },
    async () => {
      await fixture.commit([fixture.write("a", `${old}more\n`)]);
      isCommitted = true;
      await expect.poll(() => readdirSync(join(fixture.state, "aside")), { timeout: 20_000 }).toEqual([]);
    },
  );
  const [record] = fixture.workspace.archive.changes.newest();
  const before = record?.files[0]?.before;
  return { opened, hash: before?.kind === "file" ? before.hash : undefined };
}

const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");

it.skipIf(!byDescriptor)(
  "a large content that was replaced is read and hashed once for its record",
  async () => {
    using fixture = new Fixture({ a: old });
    expect(await replaced(fixture)).toEqual({ opened: 1, hash: hashOf(old) });
  },
);

it.skipIf(!byDescriptor)(
  "a large content that a program writes to while it is recorded is read again",
  async () => {
    using fixture = new Fixture({ a: old });
    const fd = openSync(join(fixture.inside, "a"), "r+");
    const other = old.replace("a line", "A LINE");
    const { opened, hash } = await replaced(fixture, times => {
      if (times === 1) writeSync(fd, other, 0);
    });
    closeSync(fd);
    expect({ opened, hash }).toEqual({ opened: 2, hash: hashOf(other) });
  },
);
