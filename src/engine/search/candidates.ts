// The files of a tree that are worth a closer look: those in which ripgrep finds a pattern. They are nothing but hints:
// the caller opens each file again from the held start (reopen.ts).
import { append } from "../append.ts";
import { Fault } from "../fault.ts";
import type { Directory } from "../workspace/directory.ts";
import { written } from "../workspace/name.ts";
import { type IgnoreContext, rulesForRipgrep } from "./ignore-context.ts";
import { compareBytes } from "./order.ts";
import { scopeArguments, startRipgrep } from "./ripgrep.ts";
import { isInScope } from "./ripgrep-run.ts";
import type { Scope } from "./walker.ts";

export interface LooserQuery {
  /** A regular expression in Rust's syntax. */
  readonly pattern: string;
  readonly ignoreCase: boolean;
}

/** Relative paths as bytes, in path order; undefined if ripgrep does not take the pattern, or did not finish. */
export async function candidates(
  start: Directory,
  { pattern, ignoreCase }: LooserQuery,
  scope: Scope,
  context: IgnoreContext,
  signal?: AbortSignal,
): Promise<Buffer[] | undefined> {
  const rules = rulesForRipgrep(start, context);
  const args = ["--no-config", "--color=never", "--files-with-matches", "--null", "--text"];
  args.push("--no-ignore-messages", ignoreCase ? "--ignore-case" : "--case-sensitive");
  append(args, [...scopeArguments(scope, rules), "-e", pattern, "--", "."]);
  const child = await startRipgrep(start, args, { rules, signal });
  const found: { readonly bytes: Buffer; readonly path: string }[] = [];
  let rest = Buffer.alloc(0);
  for await (const chunk of child.output) {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let end = whole.indexOf(0); end >= 0; end = whole.indexOf(0, at)) {
      const bytes = Buffer.from(whole.subarray(at + 2, end)); // after "./"
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
  found.sort((a, b) => compareBytes(a.path, b.path) || Buffer.compare(a.bytes, b.bytes));
  return found.map(({ bytes }) => bytes);
}
