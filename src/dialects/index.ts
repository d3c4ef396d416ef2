// The list of dialects, in the order of the documentation. Each is loaded on demand, so that one costs nothing for
// the others: a new dialect is one folder and one line here.
import type { Dialect } from "../contract/dialect.ts";

type Load = () => Promise<Dialect>;

const named = {
  polyfs: async () => (await import("./polyfs/index.ts")).polyfs,
  fs: async () => (await import("./fs/index.ts")).fs,
  "agent-tools": async () => (await import("./agent-tools/index.ts")).agentTools,
  replay: async () => (await import("./replay/index.ts")).replay,
  "file-editor": async () => (await import("./file-editor/index.ts")).fileEditor,
  "fs-context": async () => (await import("./fs-context/index.ts")).fsContext,
  reference: async () => (await import("./reference/index.ts")).reference,
} satisfies Record<string, Load>;

/** The dialects by name: `await dialects.polyfs()` loads one. */
export const dialects: Readonly<typeof named> & { readonly [name: string]: Load } = named;

export const defaultDialect: string = "polyfs";
