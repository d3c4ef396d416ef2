import { describe, expect, it } from "vitest";
import { say } from "../../../src/contract/wording.ts";
import { wording } from "../../../src/dialects/polyfs/wording.ts";
import { Fault, type StoreFailure } from "../../../src/engine/fault.ts";

describe("what an agent is told to do when the shared store refuses", () => {
  it.each<[StoreFailure, string]>([
    ["unreachable", "Try again later"],
    ["full", "Ask the user"],
    ["read_only", "Ask the user"],
    ["damaged", "Ask the user"],
  ])("%s: %s", (reason, advice) => {
    expect(say(wording, new Fault("store_unavailable", { reason, detail: "why" }))).toContain(advice);
  });

  it("a full history names the limits that can be raised, and does not suggest deleting", () => {
    const said = say(wording, new Fault("history_full", { limit: 3000, used: 2990 }));
    expect(said).toContain("--store-max-bytes");
    expect(said).not.toContain("Delete something");
    expect(said).not.toContain("later");
  });
});
