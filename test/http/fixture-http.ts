// The fixture served over HTTP within the test's process, on a free port of this machine.
import { onTestFinished } from "vitest";
import { openAccess } from "../../src/mcp/auth/authenticator.ts";
import { type HttpOptions, type HttpService, serveHttp } from "../../src/mcp/http/serve.ts";
import { createLog } from "../../src/mcp/log.ts";
import { fixture, fixtureOptions } from "../mcp/fixture.ts";

export async function serveFixture(options: Partial<HttpOptions> = {}): Promise<HttpService> {
  const service = await serveHttp({
    ...fixtureOptions,
    address: { host: "127.0.0.1", port: 0 },
    access: openAccess(fixtureOptions.engine.workspace),
    authenticated: false,
    dialects: { fixture: async () => fixture },
    dialect: "fixture",
    settings: () => fixtureOptions.settings,
    log: createLog("error"),
    graceMs: 5000,
    ...options,
  });
  onTestFinished(async () => {
    void service.close();
    await service.close();
  });
  return service;
}
