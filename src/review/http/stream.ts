// Server-sent events to one browser. One that does not read is disconnected; it connects again and catches up.
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Review } from "../review.ts";
import type { Viewer } from "../viewer.ts";
import { guarded } from "./headers.ts";

const aliveMs = 15_000;
/** How soon a browser that may not look any more is disconnected. */
const checkMs = 2000;
const maxPendingBytes = 8 * 1024 * 1024;

export function streamTo(
  request: IncomingMessage,
  response: ServerResponse,
  {
    review,
    viewer,
    lookup,
  }: { review: Review; viewer: Viewer; lookup(): Viewer | undefined | Promise<Viewer | undefined> },
): void {
  response.writeHead(200, { ...guarded, "content-type": "text/event-stream; charset=utf-8" });
  response.write("retry: 1000\n\n");
  const since = request.headers["last-event-id"];
  const stop = review.listen(
    viewer,
    (id, { name, data }) => {
      response.write(`id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      if (response.writableLength > maxPendingBytes) response.destroy();
    },
    typeof since === "string" ? since : undefined,
  );
  const alive = setInterval(() => response.write(":\n\n"), aliveMs);
  const check = setInterval(async () => {
    const now = await Promise.resolve(lookup()).catch(() => undefined);
    if (now !== viewer) response.destroy();
  }, checkMs);
  response.once("close", () => {
    stop();
    clearInterval(alive);
    clearInterval(check);
  });
}
