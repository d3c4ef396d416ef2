// Looks up a dialect by name.
import type { Dialect } from "../contract/dialect.ts";
import { defaultDialect, dialects } from "../dialects/index.ts";
import { suggestion } from "./nearest.ts";
import { UsageError } from "./usage-error.ts";

export async function chooseDialect(name = defaultDialect): Promise<Dialect> {
  const names = Object.keys(dialects);
  const load = Object.hasOwn(dialects, name) ? dialects[name] : undefined;
  if (load !== undefined) return load();
  throw new UsageError(
    `unknown dialect ${JSON.stringify(name)}${suggestion(name, names)}; there are: ${names.join(", ")}`,
  );
}
