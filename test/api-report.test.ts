// The check that holds semantic versioning, on small reports.
import { expect, it } from "vitest";
import { compareApi, isAtLeast, nextBreaking } from "../tools/api/compatible.mjs";

const report = (...declarations: string[]) => `## API\n\n\`\`\`ts\n${declarations.join("\n\n")}\n\`\`\`\n`;
const grant =
  "// @public\nexport interface Grant {\n    // (undocumented)\n    readonly path: string;\n    readonly access?: Access;\n}";
const open = "// @public\nexport function open(grants: readonly Grant[]): Engine;";

it("a report is compatible with itself, in any order and with other comments", () => {
  expect(compareApi(report(grant, open), report(open, grant.replace("// (undocumented)\n", "\n")))).toEqual({
    breaking: [],
    added: [],
  });
});

it("new exports and new optional members are compatible", () => {
  const more = grant.replace("    readonly access", "    readonly name?: string;\n    readonly access");
  const { breaking, added } = compareApi(report(grant), report(more, open));
  expect(breaking).toEqual([]);
  expect(added).toHaveLength(2);
});

it("a removed export, a removed member and a changed type break programs", () => {
  expect(compareApi(report(grant, open), report(grant)).breaking).toHaveLength(1);
  expect(
    compareApi(report(grant), report(grant.replace("    readonly path: string;\n", ""))).breaking,
  ).toEqual([
    "removed or changed: export interface Grant › readonly path: string;".replace("Grant", "Grant {"),
  ]);
  expect(compareApi(report(open), report(open.replace("Engine;", "Promise<Engine>;"))).breaking).toHaveLength(
    1,
  );
});

it("a new required member is a breaking change", () => {
  const { breaking } = compareApi(
    report(grant),
    report(grant.replace("    readonly access", "    readonly name: string;\n    readonly access")),
  );
  expect(breaking).toEqual(["now required: export interface Grant { › readonly name: string;"]);
});

it("a breaking change needs the next minor version before 1.0, and the next major one after it", () => {
  expect(nextBreaking("0.1.3")).toBe("0.2.0");
  expect(nextBreaking("2.4.1")).toBe("3.0.0");
  expect(isAtLeast("0.2.0", "0.2.0")).toBe(true);
  expect(isAtLeast("0.10.0", "0.9.0")).toBe(true);
  expect(isAtLeast("0.1.9", "0.2.0")).toBe(false);
});
