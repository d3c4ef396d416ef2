// A store whose head and log do not belong together: a restore that went wrong, or a forged row.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Fixture, type Line } from "./fixture.ts";

const damaged = expect.objectContaining({
  code: "store_unavailable",
  data: expect.objectContaining({ reason: "damaged" }),
});

describe("a head that does not match its log", () => {
  it.each([2 ** 63, 4, 2, 1, 0, -1, Number.NaN, 2.5])(
    "a head at %d, where the log ends at 3, is refused; it neither hides files nor drops the workspace",
    async revision => {
      await using fixture = new Fixture();
      const a = await fixture.machine("a", { f: "1\n" });
      for (const text of ["2\n", "3\n"]) await a.write("f", text);
      const forge = (line: Line) => {
        line.forged = info => ({ ...info, revision });
      };
      await expect(fixture.machine("b", {}, {}, forge)).rejects.toEqual(damaged);
      expect(readdirSync(join(fixture.path, "b"))).toEqual([]);
      forge(a.line);
      await expect(a.replica.refresh("writes")).rejects.toEqual(damaged);
      await a.replica.refresh("reads");
      expect(a.replica.staleMs).toBeDefined();
      expect(await fixture.store.find("w")).toMatchObject({ revision: 3 });
      a.line.forged = info => info;
      await a.write("f", "4\n");
      const b = await fixture.machine("b");
      expect(b.text("f")).toBe("4\n");
    },
  );

  it("an append that is always refused as stale is reported as damage, and not retried for ever", async () => {
    await using fixture = new Fixture();
    const a = await fixture.machine("a", { f: "1\n" });
    a.line.forged = info => ({ ...info, revision: 2 ** 63 });
    a.line.refusesAsStale = true;
    await expect(a.write("f", "2\n")).rejects.toEqual(damaged);
    expect(a.text("f")).toBe("1\n");
  });
});
