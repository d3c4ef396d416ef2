// The options that concern the shared store, as further lines of the table of options.
import type { Option } from "./option.ts";

export const storeOptions = {
  store: {
    kind: "text",
    value: "URL",
    help: "Share the directory with other servers through this store: postgres://HOST/DATABASE, s3://BUCKET/PREFIX, or a directory; a password is better given in POLYFS_STORE",
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
    help: "With --store: when a change is answered. store: when the store has it; local: when this machine has it, so that changes can be lost with the machine, and an overlap with a change of another server is decided after the answer",
  },
  "store-max-bytes": {
    kind: "number",
    default: Number.MAX_SAFE_INTEGER,
    help: "With --store: the most bytes that the workspace may take up in the store",
  },
  "store-trust-ms": {
    kind: "number",
    default: 1,
    help: "With --store: reads do not ask the store again if they did this many milliseconds ago",
  },
} as const satisfies Record<string, Option>;
