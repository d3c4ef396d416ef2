// The published program is minified; what a user's stack trace says must still lead to the sources.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const program = join(root, "dist/polyfs.cjs");

function traced(input: string): string {
  return execFileSync(process.execPath, [join(root, "tools/trace.mjs")], { input, encoding: "utf8" });
}

it("a position in the built program is mapped to the sources, and other text stays", () => {
  const known = "unborn-"; // occurs once in the sources
  const built = readFileSync(join(root, "dist/program.cjs"), "utf8");
  // The lines of the built program are of limited length, and a text may be continued on the next one.
  const before = built.slice(0, built.search([...known].join("(?:\\\\\n)?"))).split("\n");
  const trace = (place: string) => `Error: x\n    at y (${place})\n    at node:fs:1:2\n`;
  const column = before.at(-1)?.length ?? 0;
  const file = "src/engine/workspace/commit/state.ts";
  const source = readFileSync(join(root, file), "utf8").split("\n");
  const at = source.findIndex(text => text.includes(known));
  // The template that contains the text begins one line before it.
  expect(traced(trace(`/somewhere/dist/program.cjs:${before.length}:${column + 1}`))).toBe(
    trace(`${file}:${at + 1}:${(source[at] ?? "").indexOf(known)}`),
  );
});

it.runIf(process.platform === "linux")("the trace of an unexpected failure leads to the sources", () => {
  const directory = mkdtempSync(join(tmpdir(), "polyfs-gone-"));
  const line = 'cd "$1" && rmdir "$1" && exec "$2" "$3"';
  const { status, stderr } = spawnSync("sh", ["-c", line, "sh", directory, process.execPath, program], {
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(traced(stderr)).toMatch(/ENOENT.*uv_cwd[\s\S]* at src\/\S+\.ts:\d+:\d+/);
});
