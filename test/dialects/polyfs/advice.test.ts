// What a refusal advises can be done with the tool that refused.
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { polyfs } from "../../../src/dialects/polyfs/index.ts";
import { Fault, type FaultCode, type Faults } from "../../../src/engine/fault.ts";
import { Fixture, type Server } from "./fixture.ts";

const samples = join(import.meta.dirname, "../../../tools/fault-samples.mjs");
const { faultSamples } = (await import(samples)) as {
  readonly faultSamples: { readonly [C in FaultCode]: Faults[C] };
};

const parametersOf = (tool: (typeof polyfs.tools)[number]) => Object.keys(tool.input.properties);
const every = new Set(polyfs.tools.flatMap(parametersOf));

const variants: readonly [FaultCode, Faults[FaultCode]][] = [
  ...(Object.entries(faultSamples) as [FaultCode, Faults[FaultCode]][]),
  ["exists", { path: "notes", kind: "directory" }],
  ["unencodable", { path: "a.txt", encoding: "utf-8", character: "€", line: 3, likely: ["windows-1252"] }],
  ["binary", { path: "a.txt", encoding: "utf-32" }],
];

describe("the advice of a refusal", () => {
  it.each(polyfs.tools.map(tool => [tool.name, tool] as const))(
    "recommends no parameter that %s lacks, unless it names a tool that has it",
    (_, tool) => {
      const own = new Set(parametersOf(tool));
      for (const [code, data] of variants) {
        if (code === "invalid_params") continue; // lists the parameters of the tool
        const outcome = polyfs.failure(new Fault(code, data), { tool, revision: "2025-06-18" });
        if (!("content" in outcome)) throw new Error(`${code} is no result`);
        const said = outcome.content.map(item => ("text" in item ? item.text : "")).join("");
        const advice = said.split("\n").slice(1).join("\n");
        for (const [, name = ""] of advice.matchAll(/\b([a-z_]+): \S/g)) {
          if (!every.has(name) || own.has(name)) continue;
          const named = polyfs.tools.filter(other => new RegExp(`\\b${other.name}\\b`).test(advice));
          expect(
            named.some(other => parametersOf(other).includes(name)),
            `${code}: ${advice}`,
          ).toBe(true);
        }
      }
    },
  );

  describe("about a path", () => {
    const fixture = new Fixture({ "a.txt": "a\n", "logo.bin": Buffer.from([0, 1, 2, 0xff]) });
    let server: Server;
    beforeAll(async () => {
      server = await fixture.serve();
    });
    afterAll(() => fixture[Symbol.asyncDispose]());

    const add = "*** Begin Patch\n*** Add File: a.txt\n+b\n*** End Patch\n";
    const below = "One of its directories is a file: use another path.";
    it.each([
      ["create_directory", { path: "a.txt" }, "Use another path, or delete it first with delete_path."],
      [
        "apply_patch",
        { patch: add },
        "Change it with Update File or a diff of its lines, or use another path.",
      ],
      [
        "write_file",
        { path: "a.txt", content: "", mode: "create" },
        "Use another path, or set mode: overwrite.",
      ],
      ["write_file", { path: "a.txt/b.txt", content: "b\n" }, below],
      ["create_directory", { path: "a.txt/b" }, below],
      ["copy_path", { from: "a.txt", to: "a.txt/b" }, below],
      ["apply_patch", { patch: add.replace("a.txt", "a.txt/b.txt") }, below],
      ["list_directory", { path: "a.txt" }, "Name a directory; file_info shows what a path is."],
      [
        "edit_file",
        { path: "logo.bin", edits: [{ old: "a", new: "b" }] },
        "Only text can be edited: if it is text, name its encoding. read_file with encoding: base64 or hex shows its bytes.",
      ],
      [
        "apply_patch",
        { patch: "--- a/logo.bin\n+++ b/logo.bin\n@@ -1 +1 @@\n-a\n+b\n" },
        "read_file with encoding: base64 or hex shows its bytes; if it is text, edit_file takes its encoding.",
      ],
    ])("is what helps in %s %o", async (tool, params, advice) => {
      expect((await server.refuses(tool, params))[1]).toBe(advice);
    });
  });
});
