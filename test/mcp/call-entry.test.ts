// The entry of a call in the audit log, as text that is put together by hand.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { Session } from "../../src/contract/session.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { callEntry } from "../../src/mcp/call-entry.ts";

it("is one line of JSON with the given values, whatever characters a caller sends", () => {
  const root = mkdtempSync(join(tmpdir(), 'polyfs-"entry\n-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  using workspace = Workspace.open([{ path: root, access: "read-only" }], {});
  for (let unit = 0; unit < 0x10000; unit += unit < 0x300 ? 1 : 997) {
    const odd = `a${String.fromCharCode(unit)}"b\\`;
    const session = new Session();
    session.client = odd;
    const entry = callEntry(
      { caller: odd, address: odd, dialect: "polyfs", workspace, bytesIn: 1 },
      { name: odd, known: false, effect: "reads", leaf: false, paths: [odd, "b"], trace: odd },
      { id: odd, session, fault: "denied" },
      { outcome: odd, bytesOut: 2, ms: 1.26, changes: ["none"] },
    );
    expect(entry).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
    expect(JSON.parse(`{${entry}}`)).toEqual({
      event: "call",
      caller: odd,
      client: odd,
      address: odd,
      request: odd,
      trace: odd,
      dialect: "polyfs",
      tool: odd,
      workspace: [root],
      paths: [odd, "b"],
      decision: "denied",
      outcome: odd,
      fault: "denied",
      bytesIn: 1,
      bytesOut: 2,
      ms: 1.3,
      changes: [{ id: "none" }],
    });
  }
});
