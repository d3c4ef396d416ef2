// A tool that is marked as a leaf is traced without following what it waits for, so its calls must make no spans. The
// exception is a call that fails: to suggest names that are nearly right, it may walk the tree.
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Tool } from "../../src/contract/tool.ts";
import { dialects } from "../../src/dialects/index.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { traceWith } from "../../src/engine/span.ts";
import { tree } from "../http/fixture.ts";
import { serveFixture } from "../mcp/in-process.ts";

/** Arguments that name one file. */
function naming(path: string, { input, paths = [] }: Tool): object {
  const [parameter = ""] = paths;
  const schema = input.properties?.[parameter] as { readonly type?: unknown } | undefined;
  return schema === undefined ? {} : { [parameter]: schema.type === "array" ? [path] : path };
}

it("no tool that is marked as a leaf makes spans", async () => {
  const spans: string[] = [];
  traceWith(span => void spans.push(span));
  onTestFinished(() => traceWith(undefined));
  const root = tree({ "a.txt": "one\ntwo\n", "d/b.txt": "three\n" });
  using engine = openEngine({ roots: [{ path: root, access: "read-write" }], state: tree() });
  let tried = 0;
  for (const load of Object.values(dialects)) {
    const dialect = await load();
    const wire = serveFixture({ dialect, engine });
    for (const tool of dialect.tools.filter(({ leaf }) => leaf)) {
      const given = naming(join(root, "a.txt"), tool);
      const { result } = await wire.request("tools/call", { name: tool.name, arguments: given });
      expect([dialect.name, tool.name, result?.isError ?? false]).toEqual([dialect.name, tool.name, false]);
      expect([dialect.name, tool.name, ...spans]).toEqual([dialect.name, tool.name]);
      tried++;
    }
  }
  expect(tried).toBeGreaterThan(15);
});
