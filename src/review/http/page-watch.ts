// What watches over the requests of a page: a limit for each token, and the audit log.
import type { RouteAnswer } from "../routes.ts";
import type { Viewer } from "../viewer.ts";

export interface PageWatch {
  /** How many seconds a viewer who has asked too often must wait. Counts the request. */
  waitOf?(viewer: Viewer): number | undefined;
  /** Records what a viewer did or looked at. */
  record?(action: PageAction): void;
}

export interface PageAction {
  readonly viewer: Viewer;
  readonly address: string | undefined;
  /** `signin`, `undo`, `keep`, `notes`, `questions/ID`. */
  readonly route: string;
  readonly paths: readonly string[];
  /** Which change, task or question, and what was decided. Never a text that a person wrote. */
  readonly about: Readonly<Record<string, unknown>>;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly ms: number;
  readonly answer: RouteAnswer;
}

const recordedFields = ["change", "changes", "task", "hunks", "preview", "kept", "answer", "line"];

/** Undefined for requests that neither change anything nor show contents: lists are fetched again and again. */
export function actionIn(
  method: "GET" | "POST",
  route: string,
  query: URLSearchParams,
  body: unknown,
): Pick<PageAction, "route" | "paths" | "about"> | undefined {
  if (method === "GET" && !/^(?:changes|tasks)\/|^search$/.test(route)) return undefined;
  const fields = typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
  const paths = [fields.path, query.get("file"), query.get("path")].filter(one => typeof one === "string");
  const about = Object.fromEntries(
    recordedFields.map(name => [name, fields[name]]).filter(([, value]) => value !== undefined),
  );
  return { route, paths, about };
}
