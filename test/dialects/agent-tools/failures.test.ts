// The failures of the `agent-tools` contract that no single tool has to itself, and the attacks on what writes.
import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { agentTools } from "../../../src/dialects/agent-tools/index.ts";
import { Fault } from "../../../src/engine/fault.ts";
import { arena, escapes } from "../../confinement/arena.ts";
import { start } from "../../mcp/wire.ts";
import { Ground, Server } from "./ground.ts";

describe("io_error", () => {
  it("tells what the system says about a place that cannot be written", async () => {
    await using ground = new Ground();
    const server = await ground.serve({ args: ["--allow-outside-workspace"] });
    const { error, message } = await server.refuses("write_file", { path: "/sys/polyfs.txt", content: "x" });
    expect(error).toBe("io_error");
    expect(message).toContain("/sys/polyfs.txt");
  });

  it("tells that a directory was granted for reading only", async () => {
    await using ground = new Ground({ "../library/a.txt": "a\n" });
    const library = `${ground.base}/library`;
    const server = await ground.serve({ args: ["--workspace", ground.root, "--allow-read", library] });
    expect(await server.says("read_file", { path: `${library}/a.txt` })).toBe("     1\ta");
    for (const [tool, more] of [
      ["write_file", { content: "b" }],
      ["edit_file", { old_string: "a", new_string: "b" }],
    ] as const) {
      expect(await server.refuses(tool, { path: `${library}/a.txt`, ...more })).toEqual({
        error: "io_error",
        message: `Path is read-only: ${library}/a.txt`,
      });
    }
    expect(ground.read("../library/a.txt")).toBe("a\n");
  });
});

describe("internal", () => {
  it("is what a defect of ours is told as, in the same envelope", () => {
    expect(
      agentTools.failure(new Fault("internal", { message: "oops" }), { revision: "2025-11-25" }),
    ).toEqual({
      content: [{ type: "text", text: '{"error":"internal","message":"Internal error: oops"}' }],
      isError: true,
    });
  });
});

describe("what writes stays in the workspace", () => {
  const change = { old_string: "PUBLIC", new_string: "x" };
  const attacks: Record<string, (path: string) => object> = {
    write_file: path => ({ path, content: "x" }),
    edit_file: path => ({ path, ...change }),
    multi_edit: path => ({ path, edits: [change] }),
    bash: cwd => ({ cwd, command: "cat secret.txt; touch made.txt" }),
  };
  it.each(Object.entries(attacks))("%s", async (tool, params) => {
    using field = arena();
    const before = field.fingerprint();
    const env = { POLYFS_STATE_DIR: `${field.base}/state` };
    await using wire = await start({ dialect: "agent-tools", roots: [field.root], env });
    await wire.initialize();
    const server = new Server(wire);
    for (const [way, path] of Object.entries(escapes(field))) {
      const { content } = await server.result(tool, params(path));
      expect(content[0]?.text, `${way}: the secret is out`).not.toContain(field.secret);
      expect(field.fingerprint(), `${way}: something outside has changed`).toBe(before);
    }
    writeFileSync(`${field.root}/pub.txt`, "PUBLIC\n");
    if (tool !== "bash") expect((await server.result(tool, params("pub.txt"))).isError ?? false).toBe(false);
  });
});
