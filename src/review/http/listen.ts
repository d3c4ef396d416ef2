// `polyfs review`: the page on the loopback interface, for the user who started it.
import { createServer } from "node:http";
import { type ConnectionEnds, knowsPeerUser, peerUser } from "../../host/peer-user.ts";
import type { Review } from "../review.ts";
import type { Viewer } from "../viewer.ts";
import { Entrance, type Lookup } from "./entrance.ts";
import { Page } from "./page.ts";
import type { PageWatch } from "./page-watch.ts";

export interface LocalPage {
  /** With a token that works once, for people to copy. */
  readonly url: string;
  /**
   * With a token that works once, for the program that opens a browser. Other users can see the arguments of that
   * program, so where the system reports whose a connection is, the token is good for this user's only.
   */
  readonly ownUrl: string;
  close(): Promise<void>;
}

const address = "127.0.0.1";

/** The administrator can do everything anyway, and may forward the port. */
function isOwnUser(ends: ConnectionEnds): boolean {
  const user = peerUser(ends);
  return user !== undefined && (user === 0 || user === process.getuid?.());
}

export async function servePage(
  review: Review,
  viewer: () => Viewer,
  options: { readonly port: number; readonly watch?: PageWatch; failed(error: unknown): void },
): Promise<LocalPage> {
  const entrance = new Entrance();
  let port = options.port;
  const page = new Page({
    review,
    entrance,
    secure: false,
    // Browsers leave out the port of the scheme.
    isOurHost: host =>
      [address, "localhost", "[::1]"].some(
        name => host === `${name}:${port}` || (port === 80 && host === name),
      ),
    ...(options.watch && { watch: options.watch }),
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
  const ofPage: Lookup = place => (place === undefined ? viewer() : undefined);
  const at = (token: string) => `http://${address}:${port}/review/?token=${token}`;
  return {
    url: at(entrance.ticket(ofPage)),
    ownUrl: at(entrance.ticket(ofPage, knowsPeerUser() ? isOwnUser : undefined)),
    async close() {
      const closed = new Promise<void>(resolve => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}
