// Refused requests in the audit log: each has a line, until there are many.
import { describe, expect, it } from "vitest";
import { RefusalLines } from "../../src/mcp/refusal-lines.ts";

type Entry = Readonly<Record<string, unknown>>;

function refusals(senders = 100) {
  const lines: Entry[] = [];
  const never = 1e9;
  const options = { burst: 10, everyMs: never, reportMs: never, senders };
  return { lines, refused: new RefusalLines(entry => lines.push(entry), options) };
}

describe("refused requests", () => {
  it("have lines, and after the first ones of a sender a count of the others by status", () => {
    const { lines, refused } = refusals();
    for (let n = 0; n < 1000; n++) refused.take({ address: "10.0.0.1", status: n % 2 === 0 ? 401 : 404, n });
    refused.take({ address: "10.0.0.2", status: 401 });
    expect(lines.map(({ n }) => n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, undefined]);
    refused[Symbol.dispose]();
    expect(lines.slice(11)).toEqual([
      {
        address: "10.0.0.1",
        decision: "denied",
        count: 990,
        by: { 401: 495, 404: 495 },
        since: expect.stringMatching(/^\d{4}-/),
      },
    ]);
  });

  it("of many senders are counted together past a number of them", () => {
    const { lines, refused } = refusals(5);
    for (let n = 0; n < 1000; n++) refused.take({ address: `10.0.${n >> 8}.${n & 255}`, status: 401 });
    expect(lines).toHaveLength(15);
    refused[Symbol.dispose]();
    expect(lines.slice(15)).toMatchObject([{ address: "others", count: 985 }]);
  });

  it("of a caller have lines of their own, however many addresses are refused", () => {
    const { lines, refused } = refusals(5);
    for (let n = 0; n < 100; n++) refused.take({ address: `10.0.0.${n}`, status: 401 });
    refused.take({ caller: "ann", status: 429 });
    expect(lines.at(-1)).toEqual({ caller: "ann", status: 429 });
  });

  it("have lines again, one after the other, and their senders are forgotten", async () => {
    const lines: Entry[] = [];
    const options = { burst: 1, everyMs: 1, reportMs: 1, senders: 1 };
    using refused = new RefusalLines(entry => lines.push(entry), options);
    for (const address of ["a", "b", "a"]) {
      const before = lines.length;
      await expect
        .poll(() => {
          refused.take({ address, status: 401 });
          return lines.slice(before);
        })
        .toContainEqual({ address, status: 401 });
    }
  });
});
