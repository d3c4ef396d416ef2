// A date as people write it: 2027-01-31, or with a time. JavaScript takes much else for a date ("30" is a year), and
// makes the 3rd of March of the 31st of February.

/** In milliseconds since 1970. NaN for what is not a date, and for days that do not exist. */
export function writtenDate(text: string): number {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(?![\d-])/.exec(text) ?? [];
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCDate() === Number(day) && date.getUTCMonth() + 1 === Number(month)
    ? Date.parse(text)
    : Number.NaN;
}
