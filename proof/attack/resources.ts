// Files as resources: the same paths as URIs, to be read, subscribed to and completed.
import { pathToFileURL } from "node:url";
import type { Trial } from "../suite.ts";
import { pathCases } from "./paths.ts";
import { failed, type Target } from "./target.ts";

export async function attackResources(target: Target, { tally }: Trial): Promise<void> {
  if (!target.dialect.resources) return;
  const { arena } = target;
  for (const { id, story, path, refused } of pathCases.filter(({ id }) => tally.wants(id))) {
    for (const spelling of [path(arena)].flat()) {
      const absolute = spelling.startsWith("/") ? spelling : `${arena.root}/${spelling}`;
      // Half of a surrogate pair has no encoded form.
      const encoded = absolute.isWellFormed()
        ? [pathToFileURL(absolute).href, `file://${encodeURIComponent(absolute)}`]
        : [];
      const uris = [`file://${absolute}`, ...encoded, spelling];
      for (const uri of new Set(uris)) {
        for (const method of ["resources/read", "resources/subscribe"]) {
          await tally.attempt(
            `${id} (${story}) ${target.dialect.name} ${method} ${uri.slice(0, 120)}`,
            async () => {
              const answer = await target.request(method, { uri });
              await target.inspect(answer);
              if (refused === "everywhere" && method === "resources/read" && !failed(answer))
                throw new Error(`was accepted: ${JSON.stringify(answer).slice(0, 300)}`);
            },
          );
        }
      }
      const ref = { type: "ref/resource", uri: "file:///{+path}" };
      for (const value of [absolute.slice(1), `${absolute.slice(1)}/`, spelling]) {
        await tally.attempt(`${id} (${story}) completion ${value.slice(0, 120)}`, async () => {
          const argument = { name: "path", value };
          await target.inspect(await target.request("completion/complete", { ref, argument }));
        });
      }
    }
  }
}
