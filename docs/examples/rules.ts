// Rules bind every tool: migrations are written only when a person agrees, and keys are never shown.
import { call, defaultRules, dialects, openEngine, outcomeText, Policy } from "polyfs";

const policy = new Policy([
  ...defaultRules,
  { name: "migrations", paths: ["migrations/**"], ask: ["write"] },
]);

export async function writeMigration(directory: string, agrees: boolean): Promise<string> {
  const engine = openEngine({
    roots: [{ path: directory, access: "read-write" }],
    rules: { current: () => [policy] },
  });
  try {
    const outcome = await call(
      await dialects.polyfs(),
      "write_file",
      { path: "migrations/1.sql", content: "create table a (id int);\n" },
      {
        engine,
        approve: async needs => {
          console.log(`may ${needs.map(({ question, at }) => `${question} ${at}`).join(", ")}?`);
          return agrees ? { allowed: true } : { allowed: false, reason: "not today" };
        },
      },
    );
    return outcomeText(outcome);
  } finally {
    engine[Symbol.dispose]();
  }
}
