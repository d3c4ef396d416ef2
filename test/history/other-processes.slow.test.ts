// The past that several processes share: what one of them did, another sees as soon as the first has answered.
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fixture } from "../dialects/polyfs/fixture.ts";

describe("a change of another process", () => {
  it("is listed and can be undone as soon as it was answered", async () => {
    await using fixture = new Fixture({ "a.txt": "0\n" });
    const [one, other] = [await fixture.serve(), await fixture.serve()];
    for (let i = 1; i <= 20; i++) {
      await one.says("write_file", { path: "a.txt", content: `${i}\n` });
      const listed = await other.says("list_changes");
      expect(listed.match(/write_file/g), `after ${i} writes`).toHaveLength(i);
    }
    await one.says("write_file", { path: "a.txt", content: "last\n" });
    await other.says("undo", { path: "a.txt" });
    expect(fixture.read("a.txt")).toBe("20\n");
    // It sees the other's undo, and goes one step further back.
    await one.says("undo", { path: "a.txt" });
    expect(fixture.read("a.txt")).toBe("19\n");
  });

  for (const place of [tmpdir(), "/dev/shm"]) {
    it(`is listed, too, when its process was killed right after the answer (in ${place})`, async context => {
      if (place !== tmpdir() && (!existsSync(place) || statSync(place).dev === statSync(tmpdir()).dev))
        return context.skip("needs a second device at /dev/shm");
      const state = mkdtempSync(join(tmpdir(), "polyfs-state-"));
      try {
        await using fixture = new Fixture({ "a.txt": "0\n" }, place);
        const args = ["--state-dir", state];
        const other = await fixture.serve({ args });
        await other.says("write_file", { path: "b.txt", content: "mine\n" });
        for (let i = 1; i <= 5; i++) {
          const one = await fixture.serve({ args });
          await one.says("write_file", { path: "a.txt", content: `${i}\n` });
          one.wire.child.kill("SIGKILL");
          await one.wire.exited();
          expect((await other.says("list_changes", { path: "a.txt" })).match(/write_file/g)).toHaveLength(i);
        }
        await other.says("undo", { path: "a.txt" });
        expect(fixture.read("a.txt")).toBe("4\n");
        expect(fixture.has("b.txt")).toBe(true);
      } finally {
        rmSync(state, { recursive: true });
      }
    });
  }
});
