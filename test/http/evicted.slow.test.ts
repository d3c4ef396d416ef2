// Callers with tokens of an authorization server, more than are kept: what one of them has begun stays its own.
import { expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { run } from "../../src/engine/shell/run.ts";
import { OAuth } from "../../src/mcp/auth/oauth.ts";
import { createLog } from "../../src/mcp/log.ts";
import { odd, running } from "../shell/fixture.ts";
import { tree } from "./fixture.ts";
import { startIssuer } from "./issuer.ts";

const audience = "https://files.example/mcp";
/** More callers than are kept. */
const manyCallers = 510;

it("what a caller left in the background goes on when many others have called, and ends with the token", async () => {
  const root = tree({ "a/x.txt": "in a" });
  const issuer = await startIssuer(audience);
  using engine = openEngine({ roots: [{ path: root, access: "read-write" }], state: tree() });
  const { workspace } = engine;
  using oauth = new OAuth({
    ...{ issuer: issuer.url, audience, rootsClaim: "polyfs_roots", workspace },
    log: createLog("error"),
  });
  const token = async (sub: string, expires: string | number = "5m") =>
    (await issuer.token({ sub, polyfs_roots: ["a"] }, { expires })).authorization;
  const others: string[] = [];
  for (let i = 0; i < manyCallers; i++) others.push(await token(`other ${i}`));
  const nap = odd();
  const ends = Math.ceil(Date.now() / 1000) + 10;
  const own = await token("ann", ends);
  const caller = await oauth.identify(own);
  const call = caller.use();
  const { workspace: reached } = caller.is;
  const look = () => reached.directory(reached.at("."))[Symbol.dispose]();
  {
    using directory = reached.commandDirectory(reached.at("."));
    const keep = { head: 1000, tail: 0 };
    await run(`sleep ${nap} > /dev/null 2>&1 &`, { directory, keep, leftovers: "keep", grant: caller });
  }
  call[Symbol.dispose]();
  expect(running(nap)).toHaveLength(1);
  for (const other of others) await oauth.identify(other);
  expect(await oauth.identify(own)).not.toBe(caller);
  expect([running(nap).length, caller.isUsed]).toEqual([1, true]);
  look(); // its directories stay open
  await expect.poll(() => [running(nap), caller.isUsed], { timeout: 60_000 }).toEqual([[], false]);
  expect(Date.now()).toBeGreaterThanOrEqual(ends * 1000);
  expect(look).toThrow("disposed");
});
