// The suites by name, each loaded when it is asked for.
import type { Suite } from "./suite.ts";

export const suites: { readonly [name: string]: () => Promise<Suite> } = {
  agents: async () => (await import("./agents/suite.ts")).agents,
  cluster: async () => (await import("./cluster/suite.ts")).clusterSuite,
  attack: async () => (await import("./attack/suite.ts")).attack,
  "attack-without-proc": async () => (await import("./attack/without-proc.ts")).attackWithoutProc,
  encodings: async () => (await import("./encodings/suite.ts")).encodingsSuite,
  fault: async () => (await import("./fault/suite.ts")).fault,
  fuzz: async () => (await import("./fuzz/suite.ts")).fuzz,
  merge: async () => (await import("./merge/suite.ts")).mergeSuite,
  model: async () => (await import("./model/suite.ts")).model,
  policy: async () => (await import("./policy/suite.ts")).policySuite,
  power: async () => (await import("./power/suite.ts")).power,
  patch: async () => (await import("./patch/suite.ts")).patchSuite,
  review: async () => (await import("./review/suite.ts")).reviewSuite,
  search: async () => (await import("./search/suite.ts")).search,
  stalls: async () => (await import("./stalls/suite.ts")).stalls,
  syntax: async () => (await import("./syntax/suite.ts")).syntaxSuite,
  workspaces: async () => (await import("./workspaces/suite.ts")).workspacesSuite,
  store: async () => (await import("./store/suite.ts")).storeProof,
  soak: async () => (await import("./soak/suite.ts")).soak,
};

/**
 * What `.ci/run` runs, each in its short form. The soak has none: it shows what time does. The store suite is part of
 * `npm test` and `npm run test:slow`; only --s3 adds to them.
 */
export const shortForms: readonly string[] = Object.keys(suites).filter(
  name => name !== "soak" && name !== "store",
);
