// The scenarios, in the order of the report.
import type { Scenario } from "../scenario.ts";
import { right } from "../verdict.ts";
import { listing } from "./listing.ts";
import { reading } from "./reading.ts";
import { searching } from "./searching.ts";
import { writing } from "./writing.ts";

const start: Scenario = {
  id: "start",
  title: "start to `tools/list` answered",
  start: true,
  jobs: () => [],
  check: () => right,
  targets: [
    { of: "floor", atMost: 1.3 },
    { of: "reference", atMost: 0.2 },
  ],
};

export const scenarios: readonly Scenario[] = [start, ...reading, ...listing, ...searching, ...writing];
