// The ways out of a root, tried on each path parameter by itself. The suite for all dialects fills in every path
// parameter at once, and these tools take either one path or several.
import { describe, expect, it } from "vitest";
import { call } from "../../../src/contract/call.ts";
import { Session } from "../../../src/contract/session.ts";
import { defaultSettings } from "../../../src/contract/settings.ts";
import { polyfs } from "../../../src/dialects/polyfs/index.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { arena, escapes } from "../../confinement/arena.ts";

type Attack = (path: string) => Record<string, unknown>;

async function attack(tool: string, paramsFor: Attack): Promise<void> {
  using ground = arena();
  const before = ground.fingerprint();
  using engine = openEngine({ roots: [{ path: ground.root, access: "read-write" }] });
  const context = {
    engine,
    workspace: engine.workspace,
    settings: { ...defaultSettings, workingDirectory: ground.root },
    session: new Session(),
    revision: "2025-11-25",
    signal: AbortSignal.timeout(30_000),
    progress: () => undefined,
  };
  for (const [way, path] of Object.entries(escapes(ground))) {
    const outcome = await call(polyfs, tool, paramsFor(path), context);
    expect(JSON.stringify(outcome), `${way}: the secret is out`).not.toContain(ground.secret);
    expect(ground.fingerprint(), `${way}: something outside has changed`).toBe(before);
    // A path that leads back in by its dots may be written to.
    if (way === "up behind a link" && tool === "apply_patch") continue;
    if (!("error" in outcome)) expect(outcome.isError, way).toBe(true);
  }
}

describe("nothing outside the roots is reached", () => {
  it.each<[string, Attack]>([
    ["read_file", path => ({ path })],
    ["read_file", path => ({ paths: [path] })],
    ["read_file", path => ({ path, encoding: "base64" })],
    ["file_info", path => ({ path })],
    ["file_info", path => ({ paths: [path] })],
    ["search_text", path => ({ pattern: "SECRET", path })],
    ["replace_in_files", path => ({ paths: [path], old: "SECRET", new: "x" })],
    ["replace_in_files", path => ({ paths: [`${path}/*`], old: "SECRET", new: "x" })],
    ["edit_file", path => ({ path, edits: [{ insert_after: 0, new: "x" }] })],
    [
      "apply_patch",
      path => ({ patch: `*** Begin Patch\n*** Update File: ${path}\n@@\n-SECRET\n+x\n*** End Patch` }),
    ],
    ["apply_patch", path => ({ patch: `--- a/pub.txt\n+++ b/${path}\n@@ -1 +1 @@\n-PUBLIC\n+x\n` })],
  ])("by %s", attack);

  it("by globs, in listings, searches and finds", async () => {
    using ground = arena();
    using engine = openEngine({ roots: [{ path: ground.root, access: "read-write" }] });
    const context = {
      engine,
      workspace: engine.workspace,
      settings: defaultSettings,
      session: new Session(),
      revision: "2025-11-25",
      signal: AbortSignal.timeout(30_000),
      progress: () => undefined,
    };
    const globs = [
      "../**",
      "**/../**",
      "*-link/*",
      "directory-link/**",
      `${ground.outside}/*`,
      "/**",
      "{..,.}/**",
      "..\\*",
    ];
    for (const glob of globs) {
      for (const [tool, params] of [
        ["find_files", { pattern: glob, ignored: true }],
        ["search_text", { pattern: "SECRET", glob, ignored: true }],
        ["replace_in_files", { paths: [glob], old: "SECRET", new: "x" }],
      ] as const) {
        const said = JSON.stringify(await call(polyfs, tool, params, context));
        expect(said, `${tool} ${glob}`).not.toContain(ground.secret);
        expect(said, `${tool} ${glob}`).not.toContain("secret.txt");
      }
    }
    const tree = JSON.stringify(await call(polyfs, "list_directory", { depth: 9, ignored: true }, context));
    // A link is shown with what is written in it, and never gone through.
    expect(tree).toContain("directory-link -> ");
    expect(tree).not.toContain("\\n  secret.txt");
  });
});
