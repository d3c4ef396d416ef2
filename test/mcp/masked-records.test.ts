// A token or the password in a URL is known by its shape, so it is masked before a text is cut. Every record that cuts
// texts of callers is given secrets that begin at each place around its limits.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Session } from "../../src/contract/session.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { callEntry } from "../../src/mcp/call-entry.ts";
import { RpcError } from "../../src/mcp/jsonrpc.ts";
import { createLog } from "../../src/mcp/log.ts";
import { refusalEntry } from "../../src/mcp/recorder.ts";
import { reviewEntry } from "../../src/mcp/review-audit.ts";
import { clientName } from "../../src/mcp/revision.ts";
import { rpcErrorOf } from "../../src/mcp/rpc-failure.ts";
import { serveFixture } from "./in-process.ts";

const root = mkdtempSync(join(tmpdir(), "polyfs-masked-"));
const workspace = Workspace.open([{ path: root, access: "read-only" }], {});
afterAll(() => {
  workspace[Symbol.dispose]();
  rmSync(root, { recursive: true, force: true });
});

const call = { name: "a", known: true, effect: "reads", leaf: true, paths: [] } as const;

function entryOf(parts: { about?: Record<string, string>; paths?: string[]; tooLarge?: string[] }): string {
  const session = new Session();
  const { about, paths = [], tooLarge = [] } = parts;
  return callEntry(
    { dialect: "polyfs", workspace, bytesIn: 1 },
    { ...call, paths, ...(about && { about }) },
    { id: "1", session, uncovered: { tooLarge } },
    { outcome: "ok", bytesOut: 2, ms: 1, changes: [] },
  );
}

function logged(run: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = [];
  run(createLog("debug", line => lines.push(line)));
  return lines.join("");
}

const viewer = { who: "ann", workspace } as never;
const answer = { status: 200, body: {} };
const action = { viewer, address: "", route: "keep", paths: [], bytesIn: 0, bytesOut: 0, ms: 0, answer };

const records: { readonly [record: string]: (text: string) => string | undefined | Promise<string> } = {
  "the name of a client": text => clientName({ name: text, version: text }),
  "what a call is about": text => entryOf({ about: { action: text, name: text } }),
  "the paths of a call": text => entryOf({ paths: [text, text] }),
  "what a command changed besides": text => entryOf({ tooLarge: [text, text] }),
  "the reason of a refusal": text => JSON.stringify(refusalEntry(new RpcError(1, text), `"${text}"`)),
  "an action at the review page": text =>
    JSON.stringify(reviewEntry({ ...action, about: { change: text, hunks: [text] } })),
  "the log of a method that failed": text => logged(log => rpcErrorOf(new Error("no"), log, text, 1)),
  "the log of a notification": async text => {
    const lines: string[] = [];
    const wire = serveFixture({ log: createLog("debug", line => lines.push(line)) });
    wire.notify(text, {});
    await wire.request("ping", {});
    expect(lines.join("")).toContain("ignored");
    return lines.join("");
  },
};

it.each(Object.keys(records))("%s holds no part of a secret", async record => {
  const limits = [100, 200, 256, 512, 1024, 4096];
  for (const limit of limits)
    for (let length = limit - 40; length <= limit; length++) {
      const secret = `${"x".repeat(length)} https://u:hunter2${"y".repeat(5000)}@example.org/`;
      expect([length, /hunt|ter2/.exec((await records[record]?.(secret)) ?? "")]).toEqual([length, null]);
    }
});
