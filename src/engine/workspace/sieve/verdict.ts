// What the sieve says about a file.

export const verdicts = {
  /** It does not hold what is sought. */
  cannot: 0,
  /** It may. */
  may: 1,
  /** It was never read, has changed since, or is gone. */
  unknown: 2,
  /** It is larger than what was asked about. */
  large: 3,
} as const;
