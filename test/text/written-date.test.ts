// Dates that people write: on the command line, in tool calls and in the tokens file.
import { expect, it } from "vitest";
import { writtenDate } from "../../src/engine/text/written-date.ts";

it("a written date is a day that exists", () => {
  for (const text of ["2027-01-31", "2028-02-29", "2027-02-28T23:59:59Z", "2027-12-31T10:00+02:00"])
    expect([text, writtenDate(text)]).toEqual([text, Date.parse(text)]);
  for (const text of [
    "2027-02-29",
    "2027-02-31",
    "2027-04-31T00:00:00Z",
    "2027-00-10",
    "2027-13-01",
    "2027-01-00",
    "2027-01-32",
    "2027-01-011",
    "2027-1-1",
    "30",
    "31 January 2027",
    "",
  ])
    expect([text, writtenDate(text)]).toEqual([text, Number.NaN]);
});
