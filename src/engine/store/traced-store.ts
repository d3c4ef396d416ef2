// A store whose operations are spans. A span has only the name of the operation, no names of workspaces and no hashes.
import { traced } from "../span.ts";
import type { WorkspaceStore } from "./store.ts";

/** Those that take a round trip. Listening and closing are not among them. */
const operations: ReadonlySet<string | symbol> = new Set<keyof WorkspaceStore>([
  "has",
  "put",
  "get",
  "create",
  "find",
  "info",
  "list",
  "drop",
  "restore",
  "append",
  "entries",
  "collect",
]);

export function tracedStore<S extends WorkspaceStore>(store: S): S {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      if (!operations.has(name)) return member.bind(target);
      return (...given: unknown[]) =>
        traced("store", span => {
          span?.set("operation", String(name));
          return member.apply(target, given);
        });
    },
  });
}
