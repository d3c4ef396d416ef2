// A quota that is used up is a disk without room, though Node has no name for the error.
import { describe, expect, it } from "vitest";
import { faultOf as told } from "../../src/engine/workspace/errno.ts";
import { errno, watching } from "./failing.ts";
import { Fixture, faultOf } from "./fixture.ts";

describe.skipIf(process.platform === "win32")("where a quota is used up", () => {
  it("the error that Node cannot name is reported as no space", () => {
    expect(told(errno("EDQUOT", "write"), "a")).toMatchObject({ code: "no_space", data: { path: "a" } });
  });

  it("a write is refused for lack of space, and a deletion still works", async () => {
    using fixture = new Fixture({ a: "old", b: "b" });
    const full = (_count: number, name: string) => {
      if (name === "write" || name === "mkdir") throw errno("EDQUOT", name);
    };
    expect(await watching(full, () => faultOf(fixture.commit([fixture.write("a", "new")])))).toBe("no_space");
    expect(fixture.tree()).toEqual({ a: "old", b: "b" });
    await watching(full, () => fixture.commit([{ kind: "remove", path: fixture.at("b") }]));
    expect(fixture.tree()).toEqual({ a: "old" });
  });
});
