// Targets beside what was reached: `0.72 ≤ 0.9 × rival`, with a mark where it was not.
import { type Row, reached } from "./run.ts";

export function targetWords(row: Row): string {
  const words = row.scenario.targets.map(target => {
    const { of, atMost } = target;
    const figure = reached(row, target);
    const wanted = of === "ms" ? `${atMost} ms` : `${atMost} × ${of}`;
    if (figure === undefined) return `? ≤ ${wanted}`;
    return figure <= atMost ? `${figure.toFixed(2)} ≤ ${wanted}` : `**${figure.toFixed(2)} > ${wanted}**`;
  });
  return words.length === 0 ? "–" : words.join(", ");
}
