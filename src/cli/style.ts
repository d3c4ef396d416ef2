// Colours: only on a terminal that has them, and not with NO_COLOR. Text from files goes through `visible` before it
// reaches a terminal, because it could contain control sequences.
import { printable } from "../contract/wording.ts";

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Style = { readonly [name in keyof typeof codes]: (text: string) => string };

export function styleOf(stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv = process.env): Style {
  const plain = !stream.isTTY || (environment.NO_COLOR ?? "") !== "" || environment.TERM === "dumb";
  const paint = (code: number) => (text: string) =>
    plain || text === "" ? text : `\x1b[${code}m${text}\x1b[0m`;
  return {
    bold: paint(codes.bold),
    dim: paint(codes.dim),
    red: paint(codes.red),
    green: paint(codes.green),
    yellow: paint(codes.yellow),
    cyan: paint(codes.cyan),
  };
}

/** A text of several lines without anything that steers a terminal, or turns the order of what it prints. */
export function visible(text: string): string {
  return text.replace(/[^\n\t]+/g, part =>
    printable(
      part.replace(/[\u0080-\u009f]/g, "\ufffd").replace(turning, c => `\\u${c.charCodeAt(0).toString(16)}`),
    ),
  );
}

/** The same for a name, which has one line: a name that holds a line break could forge lines of a list. */
export function visibleName(name: string): string {
  return visible(printable(name));
}

/** Line and paragraph separators, and the marks and controls of bidirectional text. */
const turning = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A unified diff, coloured line by line. */
export function colouredDiff(diff: string, style: Style): string {
  // Carriage returns are shown only where a diff is about them.
  const changed = diff.split("\n").filter(line => /^[-+](?![-+]{2} )/.test(line));
  const same = changed.every(line => line.endsWith("\r"));
  // Lines end with a line feed alone: to a regular expression, one would also end at a carriage return.
  return diff.replace(/[^\n]+/g, line => {
    const shown = visible(same ? line.replace(/\r$/, "") : line);
    if (/^(---|\+\+\+) /.test(line)) return style.bold(shown);
    if (line.startsWith("@@")) return style.cyan(shown);
    if (line.startsWith("+")) return style.green(shown);
    return line.startsWith("-") ? style.red(shown) : shown;
  });
}
