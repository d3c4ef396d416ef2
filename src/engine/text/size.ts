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
  const digits = value.toFixed(1);
  return `${digits.endsWith(".0") ? digits.slice(0, -2) : digits} ${unit}`;
}
