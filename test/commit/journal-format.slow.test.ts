// The journal's records as other versions read them: the authentication is an HMAC of the head and the content.
import { createHmac, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Journal, readJournal } from "../../src/engine/workspace/commit/journal.ts";

it("a record carries the first 16 bytes of an HMAC-SHA-256 of its head, body and contents", () => {
  const folder = mkdtempSync(join(tmpdir(), "polyfs-journal-"));
  try {
    const path = join(folder, "journal");
    const key = randomBytes(32);
    const journal = new Journal(path, 3, key);
    const blobs = [Buffer.from("first"), randomBytes(100_000)];
    journal.append({ is: "intent" }, blobs);
    journal.close();
    const all = readFileSync(path);
    const content = all.subarray(32, 32 + all.readUInt32LE(8) + all.readUInt32LE(12));
    const mac = createHmac("sha256", key).update(all.subarray(0, 16)).update(content).digest();
    expect(all.subarray(16, 32)).toEqual(mac.subarray(0, 16));
    const [record] = readJournal(path, key);
    expect(record?.blob).toEqual(Buffer.concat(blobs));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
