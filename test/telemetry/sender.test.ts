// What a collector may answer.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { Sender } from "../../src/host/telemetry/sender.ts";

it("a collector whose answer does not end has got the body, once", async () => {
  let requests = 0;
  const more = (response: ServerResponse): void => {
    while (!response.destroyed && response.write("x".repeat(1024)));
    response.once("drain", () => more(response));
  };
  const server = createServer((request, response) => {
    requests++;
    request.resume();
    more(response);
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const problems: string[] = [];
  const url = new URL(`http://127.0.0.1:${port}/v1/traces`);
  const sender = new Sender({ url, headers: {}, timeoutMs: 10_000, gzip: false }, one => problems.push(one));
  await sender.send("{}");
  sender.end();
  expect([requests, problems]).toEqual([1, []]);
});
