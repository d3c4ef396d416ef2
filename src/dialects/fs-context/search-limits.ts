// The limits that both searches have, and how they say that one of them ended a search.

export const limitProperties = {
  maxResults: {
    type: "integer",
    minimum: 1,
    maximum: 10_000,
    default: 100,
    description: "Maximum matches to return (up to 10,000).",
  },
  maxFilesScanned: {
    type: "integer",
    minimum: 1,
    maximum: 100_000,
    default: 20_000,
    description: "Maximum files to scan before stopping.",
  },
  timeoutMs: {
    type: "integer",
    minimum: 100,
    maximum: 3_600_000,
    default: 30_000,
    description: "Timeout in milliseconds.",
  },
} as const;

export const stoppedReasons = ["maxResults", "maxFiles", "timeout"] as const;
export type StoppedReason = (typeof stoppedReasons)[number];

interface SearchLimits {
  readonly maxResults: number;
  readonly maxFilesScanned: number;
  readonly timeoutMs: number;
}

export function truncation(reason: StoppedReason, limits: SearchLimits): string {
  switch (reason) {
    case "maxResults":
      return `Truncated: there are more than ${limits.maxResults} matches. Raise maxResults, or narrow the search.`;
    case "maxFiles":
      return `Truncated: stopped after ${limits.maxFilesScanned} files. Raise maxFilesScanned, or narrow the search.`;
    case "timeout":
      return `Truncated: stopped after ${limits.timeoutMs} ms. Raise timeoutMs, or narrow the search.`;
  }
}
