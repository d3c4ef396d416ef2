// The files of a tree that are worth a closer look: those in which ripgrep finds a pattern, or of which it is known
// that they may hold what it demands. They are nothing but hints: whoever takes them opens each file again from the
// held start (trail.ts).
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { written } from "../workspace/name.ts";
import { standpoint } from "./above.ts";
import { isInScope } from "./collect.ts";
import { everything } from "./ignore.ts";
import { compareBytes } from "./order.ts";
import { Pace } from "./pace.ts";
import { placeOf, scopeArguments, startRipgrep } from "./ripgrep.ts";
import { sifted, study } from "./sifted.ts";
import type { Scope } from "./walker.ts";

export interface Rough {
  /** A regular expression in Rust's syntax. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
}

/** Relative paths as bytes, in path order; undefined where ripgrep does not take the pattern. */
export async function candidates(
  start: Directory,
  { pattern, ignoreCase }: Rough,
  scope: Scope,
  signal?: AbortSignal,
): Promise<Buffer[] | undefined> {
  const few = await sifted(start, { pattern, ignoreCase }, { ...scope, signal }, new Pace({ signal }));
  if (signal?.aborted) throw new Fault("cancelled", {});
  if (few !== undefined) return few.paths.map(path => Buffer.from(path));
  const above = standpoint(start, scope.ignore ?? everything);
  const args = ["--no-config", "--color=never", "--files-with-matches", "--null", "--text"];
  args.push("--no-ignore-messages", "--stats", ignoreCase ? "--ignore-case" : "--case-sensitive");
  args.push(...scopeArguments(scope, placeOf(above)), "-e", pattern, "--", ".");
  const child = await startRipgrep(start, args, above, signal);
  const found: { readonly bytes: Buffer; readonly path: string }[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of child.output) {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = whole.indexOf(0); end >= 0; end = whole.indexOf(0, at)) {
      const bytes = Buffer.from(whole.subarray(at + 2, end)); // behind "./"
      const path = written(bytes);
      if (isInScope(path, scope)) found.push({ bytes, path });
      at = end + 1;
    }
    rest = Buffer.from(whole.subarray(at));
  }
  const { code, errors } = await child.exit;
  if (signal?.aborted) throw new Fault("cancelled", {});
  // Failures about single files end with the system's error; any other is about the pattern.
  if (code !== 0 && code !== 1 && !/\(os error \d+\)$/m.test(errors)) return undefined;
  study(start, scope, Number(/(\d+) files searched/.exec(rest.toString("latin1"))?.[1] ?? 0));
  found.sort((a, b) => compareBytes(a.path, b.path) || Buffer.compare(a.bytes, b.bytes));
  return found.map(({ bytes }) => bytes);
}
