// `polyfs review`: the page on the loopback interface, for the user who started it.
import { createServer } from "node:http";
import type { Review } from "../review.ts";
import type { Viewer } from "../viewer.ts";
import { Entrance } from "./entrance.ts";
import { Page } from "./page.ts";

export interface LocalPage {
  /** With a token that works once. */
  readonly url: string;
  close(): Promise<void>;
}

const address = "127.0.0.1";

export async function servePage(
  review: Review,
  viewer: () => Viewer,
  options: { readonly port: number; failed(error: unknown): void },
): Promise<LocalPage> {
  const entrance = new Entrance();
  let port = options.port;
  const page = new Page({
    review,
    entrance,
    secure: false,
    isOurHost: host => [`${address}:${port}`, `localhost:${port}`, `[::1]:${port}`].includes(host),
    failed: options.failed,
  });
  const server = createServer({ headersTimeout: 20_000, requestTimeout: 60_000 }, (request, response) => {
    void page.handle(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  server.off("error", () => {});
  server.on("error", options.failed);
  const bound = server.address();
  if (typeof bound === "object" && bound !== null) port = bound.port;
  return {
    url: `http://${address}:${port}/review/?token=${entrance.ticket(viewer)}`,
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
