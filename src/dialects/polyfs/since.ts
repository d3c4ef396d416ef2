// From when on: a change, a time ago such as `2h`, or the `start` of this connection.

import type { CallContext } from "../../contract/context.ts";
import { changeNamed } from "../../engine/history/changes.ts";
import { writtenDate } from "../../engine/text/written-date.ts";
import { isMadeId } from "../../engine/workspace/archive/log.ts";
import { refused } from "./failure.ts";

const units: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

export interface Since {
  /** After this change, or from this time on. */
  readonly after?: string;
  readonly since?: number;
}

export async function sinceOf(written: string | undefined, call: CallContext): Promise<Since> {
  if (written === undefined) return {};
  if (written === "start") return { since: call.session.startedByNow };
  const [, count, unit = ""] = /^(\d+(?:\.\d+)?)\s*([smhdw])$/.exec(written) ?? [];
  if (count !== undefined) return { since: Date.now() - Number(count) * (units[unit] ?? 0) };
  // Times without a zone are those of list_changes.
  const isUtc = /^[\d-]{10}[T ][\d:.]+$/.test(written);
  const time = writtenDate(isUtc ? `${written}Z` : written);
  if (!Number.isNaN(time)) return { since: time };
  if (!isMadeId(written))
    throw refused(
      `${JSON.stringify(written.slice(0, 80))} is neither a time nor a change`,
      "Send a change's id, 30m, 2h, 1d, a time as list_changes shows it (UTC), or start.",
    );
  return { after: (await changeNamed(call.workspace, written)).id };
}
