// Nothing gets out of the roots, by any path parameter of any tool of any dialect. The cases are generated from
// what the tools declare, so a new tool is attacked as soon as it exists.
import { describe, expect, it } from "vitest";
import { call } from "../../src/contract/call.ts";
import type { Outcome } from "../../src/contract/dialect.ts";
import type { Schema } from "../../src/contract/schema.ts";
import { Session } from "../../src/contract/session.ts";
import { defaultSettings } from "../../src/contract/settings.ts";
import type { Tool } from "../../src/contract/tool.ts";
import { dialects } from "../../src/dialects/index.ts";
import { openEngine } from "../../src/engine/engine.ts";
import { arena, escapes } from "./arena.ts";

/** Calls that must come before a dialect does anything at all. */
const prepare: { readonly [dialect: string]: (root: string) => readonly (readonly [string, unknown])[] } = {
  "file-editor": root => [["set_workspace", { path: root }]],
};

for (const [name, load] of Object.entries(dialects)) {
  const dialect = await load();
  describe(`${name} stays in its roots`, () => {
    for (const tool of dialect.tools) {
      for (const parameter of tool.paths ?? []) {
        it(`${tool.name}: whatever '${parameter}' says`, async () => {
          using ground = arena();
          const before = ground.fingerprint();
          using engine = openEngine({ roots: [{ path: ground.root, access: "read-write" }] });
          const context = {
            engine,
            workspace: engine.workspace,
            settings: { ...defaultSettings, workingDirectory: ground.root },
            session: new Session(),
            revision: "2025-11-25",
            signal: AbortSignal.timeout(20_000),
            progress: () => undefined,
          };
          for (const [first, args] of prepare[name]?.(ground.root) ?? []) {
            expect(failed(await call(dialect, first, args, context))).toBe(false);
          }
          for (const [way, path] of Object.entries(escapes(ground))) {
            for (const value of forms(tool.input.properties[parameter], path)) {
              const outcome = await call(dialect, tool.name, sample(tool, parameter, value), context);
              const said = JSON.stringify(outcome);
              expect(said, `${way}: the secret is out`).not.toContain(ground.secret);
              expect(ground.fingerprint(), `${way}: something outside has changed`).toBe(before);
              // A tool that deletes or moves may do so with a link itself; what it may not do is seen above. A
              // parameter that takes many paths answers path by path, so the call as a whole may succeed.
              if (tool.effect === "reads" && typeof value === "string") {
                expect(failed(outcome), `${way}: answered ${said.slice(0, 300)}`).toBe(true);
              }
            }
          }
        });
      }
    }
  });
}

/** Parameters that the schema accepts, with `value` where the attack goes. */
function sample(tool: Tool, parameter: string, value: unknown): Record<string, unknown> {
  const params: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(tool.input.properties)) {
    if (name === parameter) params[name] = value;
    else if (!tool.input.required?.includes(name))
      continue; // two ways to name a file would be refused as such
    else if (tool.paths?.includes(name as never)) params[name] = forms(schema, "pub.txt")[0];
    else params[name] = accepted(schema);
  }
  return params;
}

function accepted(schema: Schema): unknown {
  const one = schema.oneOf?.[0] ?? schema.anyOf?.[0] ?? schema;
  if (one.default !== undefined) return one.default;
  if (one.enum !== undefined) return one.enum[0];
  switch (one.type) {
    case "integer":
    case "number":
      return Math.max(1, one.minimum ?? 1);
    case "boolean":
      return false;
    case "array":
      return one.items === undefined ? [] : [accepted(one.items)];
    case "object":
      return Object.fromEntries(
        (one.required ?? []).map(name => [name, accepted(one.properties?.[name] ?? {})]),
      );
    default:
      return "PUBLIC";
  }
}

/** The ways in which a parameter takes a path: by itself, in a list, or both. */
function forms(schema: Schema | undefined, path: string): readonly (string | readonly string[])[] {
  const options = schema?.oneOf ?? schema?.anyOf ?? [schema];
  return options.map(option => (option?.type === "array" ? [path] : path));
}

function failed(outcome: Outcome): boolean {
  return "error" in outcome || outcome.isError === true;
}
