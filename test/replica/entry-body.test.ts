// Entries of the log are written by other servers. One that says something impossible is damage in the store: it is
// reported as such, and stops no server.
import { describe, expect, it } from "vitest";
import { bodyOf } from "../../src/engine/replica/entry-body.ts";

const hash = "a".repeat(64);
const by = { action: "write_file", client: "c" };
const entry = (body: unknown) => ({
  id: "m1",
  body: typeof body === "string" ? body : JSON.stringify(body),
  objects: [],
  bytes: 1,
});
const withOperations = (...operations: unknown[]) => entry({ format: 1, time: 1, by, operations });
const write = (at: unknown) => ({ do: "write", at, hash, size: 1, mode: 0o644 });

describe("an entry of the log", () => {
  it("may hold every operation, and names in any bytes", () => {
    const operations = [
      write("a/b.txt"),
      write("..a/.b/c."),
      write("\\xff\\x5c"),
      write("\\x2e\\x2e/a"), // not the written form of two dots: a name with backslashes
      write("ä".repeat(127)),
      { do: "symlink", at: "l", target: "../../anywhere" },
      { do: "mkdir", at: "d", mode: 0o755 },
      { do: "mode", at: "d", mode: 0o700 },
      { do: "remove", at: "d" },
      { do: "copy", from: "a", at: "b" },
      { do: "move", from: "a", at: "b" },
      { do: "move", from: "a", at: "b", hash, size: 1 },
    ];
    expect(bodyOf(withOperations(...operations)).operations).toEqual(operations);
  });

  it.each([
    ...["..", "../a", "a/../../b", "/a", "", ".", "a//b", "a/", "a\0b", "x".repeat(5000), 5, null].map(write),
    { ...write("a"), hash: "../../../etc/passwd" },
    { ...write("a"), mode: "rw" },
    { do: "move", from: "../a", at: "b" },
    { do: "copy", from: undefined, at: "b" },
    { do: "symlink", at: "l" },
    { do: "chown", at: "a" },
    { at: "a" },
    null,
    [],
  ])("cannot say %j", operation => {
    expect(() => bodyOf(withOperations(write("a"), operation))).toThrow(
      expect.objectContaining({
        code: "store_unavailable",
        data: { reason: "damaged", detail: "change m1" },
      }),
    );
  });

  it.each(["../../a", "/a", "a/b", "..", "", "a\0", "A1", "a.json", "a".repeat(300)])(
    "cannot be called %j",
    id => {
      expect(() => bodyOf({ ...withOperations(write("a")), id })).toThrow(
        expect.objectContaining({ code: "store_unavailable" }),
      );
    },
  );

  it.each([
    "{{{",
    "null",
    "[]",
    { format: 1, time: 1, by },
    { format: 1, by, operations: { length: 9 } },
    {},
  ])("cannot be %j", body => {
    expect(() => bodyOf(entry(body))).toThrow(expect.objectContaining({ code: "store_unavailable" }));
  });
});
