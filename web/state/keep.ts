// Marks on reviewed tasks, changes, files and hunks. The server stores them, for every page.
import type { KeepRequest, Kept } from "../../src/review/api.ts";
import { announce } from "./announce.ts";
import { markHunks, refreshDetail } from "./detail.ts";
import { markKept } from "./history.ts";
import { messageOf } from "./loadable.ts";
import { post } from "./request.ts";

export async function keep(request: KeepRequest, what: string): Promise<void> {
  try {
    takeMark(await post<Kept>("api/keep", request));
    announce(request.kept ? `Kept ${what}` : `${what} is to be looked at again`, "good");
  } catch (error) {
    announce(messageOf(error), "bad");
  }
}

/** Shows a mark that this page or another one has made. */
export function takeMark(mark: Kept): void {
  if (mark.hunks === undefined) {
    markKept(mark);
    refreshDetail();
  } else markHunks(mark);
}
