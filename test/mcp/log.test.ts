// Lines of the log on standard error. Names in them come from trees and callers.
import { expect, it } from "vitest";
import { createLog, type LogFormat } from "../../src/mcp/log.ts";

function linesOf(format: LogFormat, name: string): string {
  const lines: string[] = [];
  const log = createLog("debug", line => lines.push(line), format);
  log.info(`serving ${name}`, undefined, { path: name, spaced: `a ${name}`, all: [name] });
  log.error("failed", name);
  log.started(`started at ${name}`, { serves: name });
  return lines.join("");
}

/** Controls, line and paragraph separators, and the controls of bidirectional text. */
const odd = [...Array(0x2070).keys()]
  .map(code => String.fromCharCode(code))
  .filter(char => /[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/.test(char));

it.each(["text", "json"] as const)("in %s, each message is one line, whatever is in a name", format => {
  expect(odd.length).toBeGreaterThan(70);
  for (const char of odd) {
    const text = linesOf(format, `a${char}2026-01-01 polyfs info: b`);
    expect(text.split("\n")).toHaveLength(4);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
  }
});

it.each(["text", "json"] as const)("in %s, an error has its frames, and its message is one line", format => {
  for (const char of odd) {
    const lines: string[] = [];
    const log = createLog("debug", line => lines.push(line), format);
    log.error("failed", new Error(`a${char}2026-01-01 polyfs info: b`));
    const [first = "", ...frames] = lines.join("").trimEnd().split("\n");
    expect(first).toContain("2026-01-01 polyfs info: b");
    expect(first).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u);
    if (format === "json")
      expect([frames, JSON.parse(first).error]).toEqual([[], expect.stringContaining("\n    at ")]);
    else for (const frame of frames) expect(frame).toMatch(/^ {4}at /);
  }
});

it("values without such characters stay as they are", () => {
  expect(linesOf("text", "für/日本.txt")).toContain(
    'serving für/日本.txt path=für/日本.txt spaced="a für/日本.txt"',
  );
});
