// A figure in the documents needs a command that measures it again: tools/check-docs.mjs reports those without one.
import { expect, it } from "vitest";
import { figuresWithoutCommand } from "../tools/measured-figures.mjs";

const table = "| | ms |\n|---|---:|\n| read | 3 |\n";

it("a table of figures needs a command in its section", () => {
  expect(figuresWithoutCommand(`# Page\n\n## Reads\n\n${table}`)).toEqual([
    { line: 5, what: "a table of figures" },
  ]);
  expect(figuresWithoutCommand(`# Page\n\n## Reads\n\n\`npm run bench\` measures them.\n\n${table}`)).toEqual(
    [],
  );
});

it("a paragraph with a time, a ratio or a rate needs one, too", () => {
  for (const figure of [
    "takes 12 ms",
    "takes 1.2 × as long",
    "reads 40 MB/s",
    "grows by 2 MB a minute",
    "7,000 tried",
  ])
    expect(figuresWithoutCommand(`## Reads\n\nIt ${figure}.\n`), figure).toHaveLength(1);
  expect(figuresWithoutCommand("## Reads\n\nAn answer has at most 64 KB.\n")).toEqual([]);
  expect(figuresWithoutCommand("## Reads\n\nIt takes 12 ms at most (`test/mcp/memory.test.ts`).\n")).toEqual(
    [],
  );
});

it("a command counts for the sections below its heading, but one below the title of the page does not", () => {
  expect(figuresWithoutCommand(`# Page\n\n\`npm run bench\`\n\n## Reads\n\n${table}`)).toHaveLength(1);
  expect(figuresWithoutCommand(`# Page\n\n## Reads\n\n\`npm run bench\`\n\n### Small\n\n${table}`)).toEqual(
    [],
  );
  expect(figuresWithoutCommand(`## Reads\n\n\`npm run bench\`\n\n## Writes\n\n${table}`)).toHaveLength(1);
});

it("a decision may say that its figures were measured by hand", () => {
  const text = "## Why\n\nIt takes 12 ms, measured by hand.\n";
  expect(figuresWithoutCommand(text, { byHand: true })).toEqual([]);
  expect(figuresWithoutCommand(text)).toHaveLength(1);
});
