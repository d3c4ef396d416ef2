// What clients see of each dialect, to the letter. A change here is a change of a published contract.

import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { dialects } from "../../src/dialects/index.ts";
import { start } from "../mcp/wire.ts";

describe.each(Object.keys(dialects))("%s", name => {
  it("lists its tools as published", async () => {
    await using wire = await start({ dialect: name, roots: [tmpdir()] });
    await wire.initialize();
    const { result } = await wire.request("tools/list");
    await expect(JSON.stringify(result, null, 2)).toMatchFileSnapshot(`__snapshots__/${name}.json`);
  });

  it("has schemas that every client takes", async () => {
    const load = dialects[name];
    for (const tool of (await load?.())?.tools ?? []) {
      expect(tool.name).toMatch(/^[a-z0-9_]{1,40}$/);
      expect(JSON.stringify(tool.input).length, `${tool.name}: schema`).toBeLessThan(5000);
      expect(tool.description.length, `${tool.name}: description`).toBeLessThan(2048);
      expect(JSON.stringify(tool.input), `${tool.name}: no references`).not.toContain("$ref");
      expect(Object.keys(tool.input)).not.toContain("oneOf");
      expect(Object.keys(tool.input)).not.toContain("anyOf");
      for (const parameter of tool.paths ?? [])
        expect(Object.keys(tool.input.properties)).toContain(parameter);
    }
  });
});
