// Two columns for a terminal of 80: a name, and a sentence that is wrapped beside it.

export function columns(rows: readonly (readonly [string, string])[], indent = ""): string {
  const width = Math.min(28, Math.max(...rows.map(([name]) => name.length)));
  const gap = " ".repeat(indent.length + width + 2);
  return rows
    .map(([name, sentence]) => {
      const [first = "", ...more] = wrap(sentence, 80 - gap.length);
      const head =
        name.length > width ? `${indent}${name}\n${gap}${first}` : `${indent}${name.padEnd(width)}  ${first}`;
      return `${[head, ...more.map(line => gap + line)].join("\n")}\n`;
    })
    .join("");
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
