// Resources and completion under rules.
import { pathToFileURL } from "node:url";
import type { Trial } from "../suite.ts";
import { ruled } from "./field.ts";
import type { Twins } from "./twins.ts";

export async function tryResources(twins: Twins, { tally }: Trial): Promise<void> {
  const { dialect } = twins;
  if (!dialect.resources) return;
  const attempt = (what: string, method: string, params: (root: string) => Record<string, unknown>) =>
    tally.wants(`resource ${dialect.name} ${what}`)
      ? tally.attempt(`resource ${dialect.name} ${what}`, () =>
          twins.ask(root => ({ method, params: params(root) })),
        )
      : Promise.resolve();
  await attempt("list", "resources/list", () => ({}));
  for (const name of ruled) {
    const uris = [
      (root: string) => pathToFileURL(`${root}/${name}`).href,
      (root: string) => `file://${root}/sub/../${name}`,
      (root: string) => `file://${root}/${name.toUpperCase()}`,
    ];
    for (const uri of uris)
      for (const method of ["resources/read", "resources/subscribe"])
        await attempt(`${method} ${uri("")}`, method, root => ({ uri: uri(root) }));
    const ref = { type: "ref/resource", uri: "file:///{+path}" };
    for (const end of ["", "/"])
      await attempt(`completion ${name}${end}`, "completion/complete", root => ({
        ref,
        argument: { name: "path", value: `${root.slice(1)}/${name}${end}` },
      }));
  }
}
