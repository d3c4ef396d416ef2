// Two columns: a name, and a sentence that is wrapped beside it. On a terminal the text is as wide as that is, within
// what reads well; elsewhere it is 80 wide.

export function lineWidth(stream: NodeJS.WriteStream = process.stdout): number {
  const { isTTY, columns: available = 80 } = stream;
  return isTTY ? Math.max(40, Math.min(available, 120)) : 80;
}

export function columns(rows: readonly (readonly [string, string])[], indent = ""): string {
  const line = lineWidth();
  const width = Math.min(line < 60 ? 16 : 28, Math.max(...rows.map(([name]) => name.length)));
  const gap = " ".repeat(indent.length + width + 2);
  return rows
    .map(([name, sentence]) => {
      const [first = "", ...more] = wrap(sentence, line - gap.length);
      const head =
        name.length > width ? `${indent}${name}\n${gap}${first}` : `${indent}${name.padEnd(width)}  ${first}`;
      return `${[head, ...more.map(part => gap + part)].join("\n")}\n`;
    })
    .join("");
}

/** What a list holds, such as tokens. Off a terminal another program may read it: there each has one line. */
export function listed(rows: readonly (readonly [string, string])[]): string {
  if (process.stdout.isTTY) return columns(rows);
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, rest]) => `${name.padEnd(width)}  ${rest}\n`).join("");
}

export function wrap(sentence: string, width: number): string[] {
  const lines = [""];
  for (const word of sentence.split(" ")) {
    const line = lines[lines.length - 1] ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
