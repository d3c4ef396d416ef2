// The audit log's chain: whatever is done to its lines is found, and what polyfs does itself is not.
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { checkAudit } from "../../src/host/audit-check.ts";
import { AuditLog } from "../../src/host/audit-log.ts";

let path: string;
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-audit-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  path = join(directory, "audit.log");
});

function open(maxBytes = 1_000_000): AuditLog {
  return new AuditLog(path, {
    maxBytes,
    about: { version: "test" },
    onError: error => {
      throw error;
    },
  });
}

/** Three processes, one after the other, with some calls each. */
function written(): string[] {
  for (let round = 0; round < 3; round++) {
    using log = open();
    for (let n = 0; n < 4; n++) log.append({ event: "call", round, n, text: "ä\u2028" });
  }
  return readFileSync(path, "utf8").trimEnd().split("\n");
}

function problemsOf(lines: readonly string[]): number {
  writeFileSync(path, lines.map(line => `${line}\n`).join(""));
  return checkAudit(path).problems.length;
}

describe("an audit log", () => {
  it("is whole as it was written, by one process after the other", () => {
    expect(written()).toHaveLength(18);
    expect(checkAudit(path)).toMatchObject({ lines: 18, chains: 3, open: 0, problems: [], rotated: false });
  });

  it("is whole where several processes write to it at once", () => {
    using first = open();
    using second = open();
    for (let n = 0; n < 20; n++) (n % 3 === 0 ? first : second).append({ n });
    first.reopen();
    second.reopen();
    expect(checkAudit(path)).toMatchObject({ chains: 2, open: 2, problems: [] });
  });

  it("is whole through rotation, also where the oldest lines are gone", async () => {
    {
      using log = open(3000);
      for (let n = 0; n < 200; n++) {
        log.append({ n });
        if (n % 7 === 0) log.reopen();
      }
    }
    expect(checkAudit(path)).toMatchObject({ open: 0, problems: [], rotated: true });
  });

  it("continues in a new file after the old one was moved away", () => {
    using log = open();
    log.append({ n: 1 });
    log.reopen();
    renameSync(path, `${path}.1`);
    log.reopen();
    log.append({ n: 2 });
    log.reopen();
    expect(checkAudit(path)).toMatchObject({ lines: 6, problems: [] });
    renameSync(`${path}.1`, `${path}.old`);
    expect(checkAudit(path)).toMatchObject({ lines: 3, problems: [] });
  });

  it("reports each line that was taken out, but for the last", () => {
    const lines = written();
    for (let at = 0; at < lines.length - 1; at++)
      expect([at, problemsOf(lines.toSpliced(at, 1)) > 0]).toEqual([at, true]);
    // Nor can whole chains be taken out, but for the last.
    for (const at of [0, 6]) expect(problemsOf(lines.toSpliced(at, 6))).toBeGreaterThan(0);
  });

  it("reports each two lines that changed places", () => {
    const lines = written();
    for (let a = 0; a < lines.length; a++)
      for (let b = a + 1; b < lines.length; b++) {
        const swapped = lines.with(a, lines[b] ?? "").with(b, lines[a] ?? "");
        expect([a, b, problemsOf(swapped) > 0]).toEqual([a, b, true]);
      }
  });

  it("reports each line that was changed, put in or written twice", () => {
    const lines = written();
    for (const [at, line] of lines.entries()) {
      expect([at, problemsOf(lines.toSpliced(at, 0, line)) > 0]).toEqual([at, true]);
      if (at === lines.length - 1) continue;
      for (const changed of [
        line.replace("time", "Time"),
        line.replace(/\d/, "x"),
        line.slice(1),
        `${line} `,
        "",
      ])
        expect([at, changed, problemsOf(lines.with(at, changed)) > 0]).toEqual([at, changed, true]);
    }
  });
});
