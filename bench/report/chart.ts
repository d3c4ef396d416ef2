// The run as a picture: a row for each scenario, a dot for each server on a logarithmic axis of time. Plain SVG,
// readable on light and on dark pages.
import { best, own, type Row, type Run, time } from "./run.ts";

const left = 290;
const width = 620;
const rowHeight = 22;
const top = 58;

export function chart(run: Run): string {
  const rows = run.rows.filter(row => own(row) !== undefined);
  const times = rows.flatMap(({ results }) => results.flatMap(({ ms }) => (ms === undefined ? [] : [ms])));
  const low = Math.floor(Math.log10(Math.min(...times, 1)));
  const high = Math.ceil(Math.log10(Math.max(...times, 10)));
  const x = (ms: number) => left + (width * (Math.log10(ms) - low)) / (high - low);
  const height = top + rows.length * rowHeight + 16;
  const powers = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return [
    `<svg role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 30} ${height}" font-family="sans-serif" font-size="12"><title>polyfs, rivals and limits</title>`,
    "<style>text{fill:#57606a}.grid{stroke:#8884}.line{stroke:#8888}.rival{fill:#8b949e}.ours{fill:#1f6feb}" +
      ".limit{stroke:#d29922;stroke-width:2.5}@media(prefers-color-scheme:dark){text{fill:#adbac7}}</style>",
    legend(),
    ...powers.flatMap(ms => [
      `<line class="grid" x1="${x(ms)}" x2="${x(ms)}" y1="${top - 6}" y2="${height - 10}"/>`,
      `<text x="${x(ms)}" y="${top - 12}" text-anchor="middle">${axis(ms)}</text>`,
    ]),
    ...rows.flatMap((row, i) => drawn(row, top + i * rowHeight + rowHeight / 2, x)),
    "</svg>",
    "",
  ].join("\n");
}

function legend(): string {
  return [
    `<circle class="ours" cx="${left}" cy="14" r="5"/><text x="${left + 10}" y="18">polyfs</text>`,
    `<circle class="rival" cx="${left + 80}" cy="14" r="4"/><text x="${left + 90}" y="18">rivals with a right answer</text>`,
    `<line class="limit" x1="${left + 270}" x2="${left + 270}" y1="8" y2="20"/>`,
    `<text x="${left + 280}" y="18">the limit: the work without a server</text>`,
  ].join("");
}

function drawn(row: Row, y: number, x: (ms: number) => number): string[] {
  const right = row.results.filter(({ ms, verdict }) => ms !== undefined && verdict.is !== "wrong");
  const spread = right.map(({ ms = 1 }) => x(ms));
  const dot = (kind: string, ms: number, radius: number, title: string) =>
    `<circle class="${kind}" cx="${x(ms).toFixed(1)}" cy="${y}" r="${radius}"><title>${escaped(title)}: ${time(ms)} ms</title></circle>`;
  const limit = best(row, "limit")?.ms;
  const ours = own(row);
  return [
    `<text x="${left - 12}" y="${y + 4}" text-anchor="end">${escaped(titleOf(row))}</text>`,
    `<line class="line" x1="${Math.min(...spread)}" x2="${Math.max(...spread)}" y1="${y}" y2="${y}"/>`,
    ...right
      .filter(({ family, verdict }) => family === "rival" && verdict.is === "right")
      .map(({ contender, ms = 1 }) => dot("rival", ms, 4, contender)),
    ...(limit === undefined
      ? []
      : [`<line class="limit" x1="${x(limit)}" x2="${x(limit)}" y1="${y - 7}" y2="${y + 7}"/>`]),
    ...(ours?.ms === undefined ? [] : [dot("ours", ours.ms, 5, `polyfs (${ours.contender})`)]),
  ];
}

/** "The same, repeated" says nothing away from the row above. */
function titleOf({ scenario: { id, title } }: Row): string {
  return title.startsWith("the same")
    ? `${id.replace(/-again$/, "").replace("-", " ")}, ${title.slice(10)}`
    : title.replaceAll("`", "");
}

function axis(ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
