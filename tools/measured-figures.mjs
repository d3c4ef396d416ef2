// Finds figures in a page that cannot be measured again: a table of numbers, or a paragraph with a time, a ratio or a
// rate, in a section that names no command. A section is what stands below a heading, with the lines below the headings
// above it; the title of the page is no such heading, so one command at the top does not cover a whole page.

/** A command that measures or tries something, or a test that holds a limit. */
const command =
  /\b(?:npm (?:test|run (?:bench|proof|soak|test|package|docs|api)[\w:]*)|npx vitest|node (?:bench|proof|tools)\/\w|polyfs selftest)|\.ci\/run\b|\btest\/[\w./-]+\.test\.ts\b/;

const figure =
  /\d ?(?:ms|µs|%)(?!\p{L})|\d ?(?:MB|MiB|KB) a (?:second|minute)\b|\d ?[KM]i?B\/s\b|\d ?×(?! (?:arm64|x64|x86))|\d calls a second\b|\d tried\b/u;

/**
 * For each such place, its line (from 1) and what it is. With `byHand`, a section may say instead that its figures were
 * measured by hand: the reason for a choice was measured once, with programs that are not kept.
 */
export function figuresWithoutCommand(text, { byHand = false } = {}) {
  return sectionsOf(text).flatMap(({ own, above }) => {
    const lines = [...above, ...own];
    if (lines.some(({ text }) => command.test(text) || (byHand && /\bby hand\b/.test(text)))) return [];
    return paragraphsOf(own).flatMap(paragraph => {
      const what = kindOf(paragraph);
      return what === undefined ? [] : [{ line: paragraph[0].line, what }];
    });
  });
}

function sectionsOf(text) {
  const sections = [];
  let open = []; // the section at each level, down to the one that is being read
  let own = [];
  let isCode = false;
  for (const [i, line] of text.split("\n").entries()) {
    if (line.startsWith("```")) isCode = !isCode;
    const level = isCode ? 0 : (/^(#{1,6}) /.exec(line)?.[1]?.length ?? 0);
    if (level > 0) {
      open = open.filter(section => section.level < level);
      own = [];
      const above = open.filter(section => section.level > 1).flatMap(section => section.own);
      open.push({ level, own });
      sections.push({ own, above });
    } else own.push({ line: i + 1, text: line });
  }
  return sections;
}

function paragraphsOf(lines) {
  const paragraphs = [];
  let isOpen = false;
  for (const line of lines) {
    if (line.text.trim() === "") isOpen = false;
    else if (isOpen) paragraphs.at(-1).push(line);
    else {
      paragraphs.push([line]);
      isOpen = true;
    }
  }
  return paragraphs;
}

function kindOf(paragraph) {
  const [first] = paragraph;
  if (first.text.startsWith("```")) return undefined;
  if (first.text.startsWith("|")) {
    const hasColumnOfNumbers = paragraph.some(({ text }) => /^\|(?:[\s:|-]*\|)?\s*-+:\s*\|/.test(text));
    const hasFigures = paragraph.some(({ text }) => text.split("|").some(cell => figure.test(cell)));
    return hasColumnOfNumbers || hasFigures ? "a table of figures" : undefined;
  }
  return paragraph.some(({ text }) => figure.test(text)) ? "a figure" : undefined;
}
