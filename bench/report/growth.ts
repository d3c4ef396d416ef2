// The curves of `npm run bench -- --growth` as data, and as Markdown.
import { cpus, loadavg, totalmem } from "node:os";

export interface Curves {
  readonly title: string;
  /** What the sizes count. */
  readonly unit: "number" | "bytes";
  readonly sizes: number[];
  /** By row, a median for each size; none where it was not measured. */
  readonly rows: Record<string, (number | null)[]>;
}

export interface GrowthRun {
  readonly date: string;
  readonly machine: string;
  readonly rounds: number;
  readonly growth: Curves[];
}

export function machine(): string {
  return `${cpus().length} × ${process.arch}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform}, Node ${process.version.slice(1)}, load ${loadavg()[0]?.toFixed(1)}`;
}

export function measuredOn(): string {
  return new Date().toISOString().slice(0, 10);
}

export function curves({ date, machine, rounds, growth }: GrowthRun): string {
  return [
    `Measured on ${date}, ${machine}: medians of ${rounds} rounds, in milliseconds unless a row or a title says otherwise; MB is the most that the server held during the call. The exponent is the slope of the curve: 0 is flat, 1 is linear.`,
    ...growth.map(table),
  ].join("\n\n");
}

function table({ title, unit, sizes, rows }: Curves): string {
  const order = sizes.map((_, n) => n).toSorted((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  const head = order.map(n => sizeText(sizes[n] ?? 0, unit));
  return [
    `| ${title} | ${head.join(" | ")} | exponent |`,
    `|---|${head.map(() => "---:|").join("")}---:|`,
    ...Object.entries(rows).map(([row, values]) => {
      const cells = order.map(n => cell(values[n]));
      return `| ${row} | ${cells.join(" | ")} | ${exponent(sizes, values).toFixed(2)} |`;
    }),
  ].join("\n");
}

function sizeText(size: number, unit: Curves["unit"]): string {
  if (unit === "number") return size.toLocaleString("en");
  return size < 1024 ** 2 ? `${size / 1024} KB` : `${size / 1024 ** 2} MB`;
}

function cell(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
}

/** The slope of a line through the logarithms, by least squares. */
function exponent(sizes: readonly number[], values: readonly (number | null)[]): number {
  const points = sizes.flatMap((size, n) => {
    const value = values[n];
    return value === null || value === undefined || value <= 0 ? [] : [[Math.log(size), Math.log(value)]];
  });
  const mean = (axis: 0 | 1) => points.reduce((sum, point) => sum + (point[axis] ?? 0), 0) / points.length;
  const [x0, y0] = [mean(0), mean(1)];
  const over = points.reduce((sum, [x = 0, y = 0]) => sum + (x - x0) * (y - y0), 0);
  return over / points.reduce((sum, [x = 0]) => sum + (x - x0) ** 2, 0);
}
