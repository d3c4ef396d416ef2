// The failures of the `agent-tools` contract that no single tool has to itself.
import { describe, expect, it } from "vitest";
import { agentTools } from "../../../src/dialects/agent-tools/index.ts";
import { Fault } from "../../../src/engine/fault.ts";
import { Fixture } from "./fixture.ts";

describe("io_error", () => {
  it("reports what the system says about a place that cannot be written", async () => {
    await using fixture = new Fixture();
    const server = await fixture.serve({ args: ["--allow-outside-workspace"] });
    const { error, message } = await server.refuses("write_file", { path: "/sys/polyfs.txt", content: "x" });
    expect(error).toBe("io_error");
    expect(message).toContain("/sys/polyfs.txt");
  });

  it("reports that a directory was granted for reading only", async () => {
    await using fixture = new Fixture({ "../library/a.txt": "a\n" });
    const library = `${fixture.base}/library`;
    const server = await fixture.serve({ args: ["--workspace", fixture.root, "--allow-read", library] });
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
    expect(fixture.read("../library/a.txt")).toBe("a\n");
  });
});

describe("internal", () => {
  it("reports an internal error in the same envelope", () => {
    expect(
      agentTools.failure(new Fault("internal", { message: "oops" }), { revision: "2025-11-25" }),
    ).toEqual({
      content: [{ type: "text", text: '{"error":"internal","message":"Internal error: oops"}' }],
      isError: true,
    });
  });
});
