// What commands did that wait for the store, when another machine writes to the same file first.
import { expect, it, vi } from "vitest";
import { Fixture } from "./fixture.ts";

const patience = { timeout: 10_000, interval: 50 };

it("keeps the lines that do not overlap: its command has ended and cannot be told", async () => {
  await using fixture = new Fixture();
  const lines = Array.from({ length: 40 }, (_, i) => `line ${i}\n`);
  const a = await fixture.machine("a", { f: lines.join("") });
  const b = await fixture.machine("b");
  const by = { action: "run_command", client: "first", connection: "first" };
  const id = a.workspace.archive.changes.newId();
  const stop = a.replica.commandRuns(by, () => {});
  a.put("f", lines.join("").replace("line 3\n", "command\n").replace("line 30\n", "command too\n"));
  a.line.isCut = true;
  const change = { id, own: (path: string) => path.endsWith("/f") };
  await expect(a.replica.publishChanges(by, undefined, change)).rejects.toThrow();
  stop();
  await b.edit("f", text => text.replace("line 3\n", "another machine\n"));
  a.line.isCut = false;
  const merged = lines
    .join("")
    .replace("line 3\n", "another machine\n")
    .replace("line 30\n", "command too\n");
  await vi.waitFor(async () => {
    await b.replica.refresh("reads");
    expect(b.text("f")).toBe(merged);
  }, patience);
  expect(a.text("f")).toBe(merged);
});
