// What `polyfs token` reads: the file of tokens, and directories and moments as people write them.
import { resolve } from "node:path";
import { plainWording, say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { writtenDate } from "../../engine/text/written-date.ts";
import type { Grant } from "../../engine/workspace/grant.ts";
import { Root } from "../../engine/workspace/root.ts";
import { readNamedFile } from "../../engine/workspace/system/named-file.ts";
import { parseTokens, type TokenRecord } from "../../mcp/auth/tokens-file.ts";
import { fromHome, wholeNumber } from "../layer.ts";
import { UsageError } from "../usage-error.ts";

export function fileIn(tokens: string | undefined): string {
  if (tokens === undefined) throw new UsageError("name the file of tokens: --tokens FILE");
  return tokens;
}

/** `absent` is the content of a missing file; without it, the file must exist. */
export function tokensIn(file: string, absent?: readonly TokenRecord[]): readonly TokenRecord[] {
  try {
    return parsed(readNamedFile(file), file);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (absent !== undefined && Fault.is(error, "not_found")) return absent;
    throw new UsageError(`the tokens cannot be read: ${say(plainWording, error)}`);
  }
}

export function parsed(content: string, file: string): TokenRecord[] {
  try {
    return parseTokens(content, file);
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : error}`);
  }
}

export function countIn(own: ReadonlyMap<string, string>, option: string): number | undefined {
  const text = own.get(option);
  return text === undefined ? undefined : wholeNumber(text, `--${option}`);
}

export function grantsIn(
  read: readonly string[] = [],
  write: readonly string[] = [],
): readonly Grant[] | undefined {
  const grants = [
    ...write.map(path => ({ path: resolve(fromHome(path)), access: "read-write" as const })),
    ...read.map(path => ({ path: resolve(fromHome(path)), access: "read-only" as const })),
  ];
  for (const { path, access } of grants) refuseMissing(path, access);
  const twice = grants.find(({ path }, index) => grants.findIndex(one => one.path === path) < index);
  if (twice !== undefined) throw new UsageError(`${twice.path} is named twice`);
  return grants.length === 0 ? undefined : grants;
}

/** A missing directory would be refused only when the token is used, too late to correct it. */
function refuseMissing(path: string, access: Grant["access"]): void {
  try {
    new Root(path, access)[Symbol.dispose]();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (Fault.is(error, "not_found")) throw new UsageError(`no such directory: ${path}`);
    if (Fault.is(error, "not_a_directory")) throw new UsageError(`not a directory: ${path}`);
    throw new UsageError(`a directory cannot be granted: ${say(plainWording, error)}`);
  }
}

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `30d`, `12h`, `15m` from now, or a date; as a date and time. */
export function momentIn(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ""] = /^(\d+)([mhd])$/.exec(text) ?? [];
  const moment = count === undefined ? writtenDate(text) : Date.now() + Number(count) * (units[unit] ?? 0);
  const date = new Date(moment);
  if (Number.isNaN(date.getTime()))
    throw new UsageError(
      `--expires needs a date (2027-01-31) or a time from now (30d), not ${JSON.stringify(text)}`,
    );
  if (date.getTime() <= Date.now())
    throw new UsageError(`--expires ${text} is in the past (${date.toISOString()})`);
  return date.toISOString();
}
