// An authorization server on this machine, with keys of its own, that signs what a test wants.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { onTestFinished } from "vitest";

export interface TestIssuer {
  readonly url: string;
  /** A token as a header; claims and times can be changed. */
  token(
    claims?: Record<string, unknown>,
    options?: { audience?: string; issuer?: string; expires?: string | number; foreign?: boolean },
  ): Promise<{ authorization: string }>;
}

/** `metadata`: fields that its metadata has besides or instead of the right ones. */
export async function startIssuer(
  audience: string,
  metadata: Record<string, unknown> = {},
): Promise<TestIssuer> {
  const own = await generateKeyPair("ES256");
  const foreign = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(own.publicKey)), kid: "1", alg: "ES256", use: "sig" };
  let url = "";
  const server = createServer((request, response) => {
    const documents: Record<string, unknown> = {
      "/.well-known/oauth-authorization-server": { issuer: url, jwks_uri: `${url}/keys`, ...metadata },
      "/keys": { keys: [jwk] },
    };
    const document = documents[request.url ?? ""];
    response.writeHead(document === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(document));
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async token(claims = {}, options = {}) {
      const jwt = await new SignJWT({ sub: "ann", scope: "files:read files:write", ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setIssuer(options.issuer ?? url)
        .setAudience(options.audience ?? audience)
        .setIssuedAt()
        .setExpirationTime(options.expires ?? "5m")
        .sign(options.foreign ? foreign.privateKey : own.privateKey);
      return { authorization: `Bearer ${jwt}` };
    },
  };
}
