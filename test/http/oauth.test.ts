// Tokens of an authorization server: what is let in, what is not, and how clients find out where to go.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OAuth } from "../../src/mcp/auth/oauth.ts";
import { serve, tree } from "./fixture.ts";
import { startIssuer } from "./issuer.ts";
import { modern, send } from "./wire.ts";

const audience = "https://files.example/mcp";
const metadataUrl = "https://files.example/.well-known/oauth-protected-resource/mcp";

async function fixture({
  root = tree({ "a/x.txt": "in a", "b/x.txt": "in b" }),
  metadata = {} as Record<string, unknown>,
} = {}) {
  const issuer = await startIssuer(audience, metadata);
  const served = await serve([root], {
    access: ({ workspace }, log) =>
      new OAuth({ issuer: issuer.url, audience, rootsClaim: "polyfs_roots", workspace, log }),
  });
  const url = `${served.url}/mcp/agent-tools`;
  const list = (who = {}) => modern(url, "tools/list", {}, who);
  const call = (name: string, args: unknown, who = {}) =>
    modern(url, "tools/call", { name, arguments: args }, who);
  return { ...served, root, issuer, list, call };
}

describe("with an authorization server", () => {
  it("a valid token is accepted every time", async () => {
    const { issuer, list } = await fixture();
    const token = await issuer.token();
    expect([(await list(token)).status, (await list(token)).status]).toEqual([200, 200]);
  });

  it("a token for a workspace does not reach directories that are served directly", async () => {
    const { issuer, list } = await fixture();
    expect((await list(await issuer.token({ polyfs_workspace: "main" }))).status).toBe(404);
    for (const claim of [7, null, "", "../x", ["main"]])
      expect((await list(await issuer.token({ polyfs_workspace: claim }))).status).toBe(403);
  });

  it("no token gets 401 and the place of the metadata, which needs no token", async () => {
    const { url, issuer, list } = await fixture();
    const reply = await list();
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toBe(`Bearer resource_metadata="${metadataUrl}"`);
    for (const path of [
      "/.well-known/oauth-protected-resource/mcp",
      "/.well-known/oauth-protected-resource",
    ]) {
      const { status, body } = await send(`${url}${path}`);
      expect(status).toBe(200);
      expect(JSON.parse(body)).toMatchObject({
        resource: audience,
        authorization_servers: [issuer.url],
        scopes_supported: ["files:read", "files:write", "commands:run", "changes:review"],
      });
    }
  });

  it.each([
    ["for another audience", "aud", { audience: "https://other.example/mcp" }],
    ["of another issuer", "iss", { issuer: "http://127.0.0.1:1" }],
    ["that has expired", "expired", { expires: Math.floor(Date.now() / 1000) - 60 }],
    ["signed with a key that is not the issuer's", "not valid", { foreign: true }],
  ])("a token %s gets 401, and is told why", async (_, why, options) => {
    const { issuer, list } = await fixture();
    const reply = await list(await issuer.token({}, options));
    expect(reply.status).toBe(401);
    expect(reply.headers["www-authenticate"]).toMatch(/error="invalid_token".*resource_metadata=/);
    expect(`${reply.headers["www-authenticate"]}\n${reply.body}`).toContain(why);
  });

  it("a token that is not signed at all, or by a shared secret, gets 401", async () => {
    const { list } = await fixture();
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    for (const alg of ["none", "HS256"]) {
      const forged = `${part({ alg })}.${part({ sub: "ann", aud: audience, exp: 9_999_999_999 })}.AAAA`;
      expect((await list({ authorization: `Bearer ${forged}` })).status).toBe(401);
    }
  });

  it("a call that needs a scope which the token lacks gets 403, and which scope that is", async () => {
    const { issuer, list, call, root } = await fixture();
    const reader = await issuer.token({ scope: "files:read openid" });
    expect((await call("read_file", { path: join(root, "a/x.txt") }, reader)).status).toBe(200);
    const write = await call("write_file", { path: join(root, "a/x.txt"), content: "no" }, reader);
    expect(write.status).toBe(403);
    expect(write.headers["www-authenticate"]).toMatch(/error="insufficient_scope", scope="files:write"/);
    const stranger = await list(await issuer.token({ scope: "openid" }));
    expect(stranger.status).toBe(403);
    expect(stranger.headers["www-authenticate"]).toMatch(/scope="files:read"/);
  });

  it("a claim restricts to directories, by absolute path or from the first root, and never adds any", async () => {
    const { issuer, call, root } = await fixture();
    const read = async (path: string, roots: unknown) =>
      await call("read_file", { path }, await issuer.token({ polyfs_roots: roots }));
    expect((await read("x.txt", ["a"])).body).toContain("in a");
    expect((await read("x.txt", [{ path: join(root, "b"), access: "read-only" }])).body).toContain("in b");
    expect((await read(join(root, "b/x.txt"), ["a"])).body).not.toContain("in b");
    for (const roots of [["/"], [".."], [tree()], ["missing"], [], [7], "../.."]) {
      expect([roots, (await read(join(root, "a/x.txt"), roots)).status]).toEqual([roots, 403]);
    }
  });

  it("claims of every type are judged in the same way, whatever came before", async () => {
    const values = [
      null,
      "",
      "ann",
      "a",
      "null",
      0,
      7,
      true,
      false,
      [],
      ["a"],
      [null],
      [["a"]],
      {},
      { path: "a" },
    ];
    const tokens: Record<string, unknown>[] = [{}];
    for (const claim of ["sub", "scope", "polyfs_roots"])
      for (const value of values) tokens.push({ [claim]: value });
    tokens.push({ sub: { toString: "ann" } }, { sub: ["ann"] });
    const root = tree({ "a/x.txt": "in a", "b/x.txt": "in b" });
    // What each may read, as told by a server that has seen no other: that, and never more.
    const expected = (claims: Record<string, unknown>): string => {
      const { sub = "ann", scope = "files:read", polyfs_roots: roots } = claims;
      if (typeof sub !== "string" || sub === "") return "401";
      if (scope !== "files:read") return "403";
      const one = Array.isArray(roots) && roots.length === 1 ? roots[0] : roots;
      if (!("polyfs_roots" in claims)) return "a b";
      return one === "a" || (one as { path?: string } | null)?.path === "a" ? "a" : "403";
    };
    const { issuer, call } = await fixture({ root });
    for (const order of [tokens, tokens.toReversed()]) {
      for (const claims of order) {
        const who = await issuer.token(claims);
        const read = (name: string) => call("read_file", { path: join(root, name, "x.txt") }, who);
        const [a, b] = [await read("a"), await read("b")];
        const seen = ["a", "b"].filter((name, at) => [a, b][at]?.body.includes(`in ${name}`)).join(" ");
        expect([claims, a.status === 200 ? seen : String(a.status)]).toEqual([claims, expected(claims)]);
      }
    }
  });

  it("an issuer that cannot be reached is not the caller's fault: 503", async () => {
    const issuer = await startIssuer(audience);
    const { url } = await serve([tree()], {
      access: ({ workspace }, log) =>
        new OAuth({ issuer: "http://127.0.0.1:9", audience, rootsClaim: "r", workspace, log }),
    });
    const reply = await modern(`${url}/mcp/fs`, "tools/list", {}, await issuer.token());
    expect(reply.status).toBe(503);
  });

  it.each([
    ["larger than 1 MB", { padding: "x".repeat(1024 * 1024) }],
    ["about another issuer", { issuer: "https://issuer.example" }],
  ])("metadata of the issuer that is %s is not used: 503 for a token that it signed", async (_, metadata) => {
    const { issuer, list } = await fixture({ metadata });
    expect((await list(await issuer.token())).status).toBe(503);
  });

  it("an issuer on another machine without TLS is refused at the start", () => {
    const options = { audience, rootsClaim: "r", workspace: {} as never, log: {} as never };
    expect(() => new OAuth({ issuer: "http://issuer.example", ...options })).toThrow("https:");
  });
});
