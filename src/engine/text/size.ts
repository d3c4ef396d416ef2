// Sizes as people read them: "26 B", "3.4 KB", "1.2 GB".

const units = ["KB", "MB", "GB", "TB", "PB"];

export function humanSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes;
  let unit = "";
  for (const next of units) {
    value /= 1024;
    unit = next;
    // 1023.95 would be printed as 1024.0.
    if (value < 1023.95) break;
  }
  // In tenths, which takes a fraction of the time of `toFixed`.
  const tenths = Math.round(value * 10);
  const rest = tenths % 10;
  return `${(tenths - rest) / 10}${rest === 0 ? "" : `.${rest}`} ${unit}`;
}
