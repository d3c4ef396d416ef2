// The store that an address names. Each implementation is loaded when it is first named, with the client it needs.
import { Fault } from "../fault.ts";
import type { WorkspaceStore } from "./store.ts";

export interface StoreAddress {
  /** `postgres://…`, or an absolute path. */
  readonly store: string;
}

/** Faults: `store_unavailable`. */
export async function openWorkspaceStore({ store }: StoreAddress): Promise<WorkspaceStore> {
  switch (kindOfStore(store)) {
    case "postgres": {
      const { PostgresStore } = await import("./postgres/postgres-store.ts");
      return await PostgresStore.open(store);
    }
    case "directory": {
      const { DirectoryStore } = await import("./directory/directory-store.ts");
      return new DirectoryStore(store);
    }
  }
}

/** Creates or updates the tables of a store that has some. Undefined where there is nothing to do. */
export async function migrateStore({
  store,
}: StoreAddress): Promise<{ readonly from: number; readonly to: number } | undefined> {
  if (kindOfStore(store) !== "postgres") return undefined;
  const { PostgresStore } = await import("./postgres/postgres-store.ts");
  return await PostgresStore.migrate(store);
}

function kindOfStore(store: string): "postgres" | "directory" {
  if (/^postgres(ql)?:\/\//.test(store) && URL.canParse(store)) return "postgres";
  if (store.startsWith("/") || /^[A-Za-z]:[\\/]/.test(store)) return "directory";
  const detail = "it must be postgres://… or the absolute path of a directory";
  throw new Fault("store_unavailable", { reason: "invalid", detail });
}

/** The address without a password, for people and logs. */
export function shownAddress(store: string): string {
  return store.replace(/^([a-z0-9]+:\/\/[^:@/]*):[^@]*@/, "$1@");
}
