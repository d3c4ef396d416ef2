// The options that concern the shared store, as further lines of the table of options.
import type { Option } from "./option.ts";

export const storeOptions = {
  store: {
    kind: "text",
    value: "URL",
    help: "Share the directory with other servers through this store: postgres://HOST/DATABASE, s3://BUCKET/PREFIX, or a directory; put a password into POLYFS_STORE, not on the command line",
  },
  "store-objects": {
    kind: "text",
    value: "URL",
    help: "With --store postgres://: put objects over 1 MB into this bucket, s3://BUCKET/PREFIX, and not into the database",
  },
  "store-workspace": {
    kind: "text",
    value: "NAME",
    help: "With --store: the workspace of the store that the directory is a copy of (main if left out)",
  },
  "store-durability": {
    kind: "choice",
    value: "WHERE",
    choices: ["store", "local"],
    default: "store",
    help: "With --store: when a change is acknowledged. store: when the store has it; local: when this machine has it, so changes can be lost with the machine, and conflicts with other servers are found after the answer",
  },
  "store-max-bytes": {
    kind: "number",
    default: Number.MAX_SAFE_INTEGER,
    help: "With --store: maximum size of the workspace in the store",
  },
  "store-trust-ms": {
    kind: "number",
    default: 1,
    help: "With --store: how long, in milliseconds, reads trust the last answer of the store",
  },
} as const satisfies Record<string, Option>;
