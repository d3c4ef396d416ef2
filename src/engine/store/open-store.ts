// The store that an address names. Each implementation is loaded when it is first named, with the client it needs.
import { Fault } from "../fault.ts";
import type { LargeObjects } from "./large-objects.ts";
import type { WorkspaceStore } from "./store.ts";
import { tracedStore } from "./traced-store.ts";

export interface StoreAddress {
  /** `postgres://…`, `s3://…`, or an absolute path. */
  readonly store: string;
  /** `s3://…`: where a database puts large objects. */
  readonly objects?: string | undefined;
}

/** Faults: `store_unavailable`. */
export async function openWorkspaceStore(address: StoreAddress): Promise<WorkspaceStore> {
  return tracedStore(await opened(address));
}

/**
 * The same for one that is there already: a new and empty one would seem to be a store without damage, or a complete
 * backup. Only a directory would be made. Faults: `store_unavailable`.
 */
export async function openExistingStore(address: StoreAddress): Promise<WorkspaceStore> {
  const { store } = address;
  if (kindOfStore(store) === "directory") {
    const { DirectoryStore } = await import("./directory/directory-store.ts");
    if (!DirectoryStore.isAt(store)) throw invalid(`there is no store in ${store}`);
  }
  return await openWorkspaceStore(address);
}

async function opened({ store, objects }: StoreAddress): Promise<WorkspaceStore> {
  const kind = kindOfStore(store);
  if (objects !== undefined && kind !== "postgres")
    throw invalid("--store-objects goes with postgres:// only");
  switch (kind) {
    case "postgres": {
      const { PostgresStore } = await import("./postgres/postgres-store.ts");
      return await PostgresStore.open(store, { large: await largeObjectsAt(objects) });
    }
    case "s3": {
      const { S3Store } = await import("./s3/s3-store.ts");
      return await S3Store.open(store);
    }
    case "directory": {
      const { DirectoryStore } = await import("./directory/directory-store.ts");
      return new DirectoryStore(store);
    }
  }
}

/** Creates or updates the tables of a store that has some. Undefined if there is nothing to do. */
export async function migrateStore({
  store,
}: StoreAddress): Promise<{ readonly from: number; readonly to: number } | undefined> {
  if (kindOfStore(store) !== "postgres") return undefined;
  const { PostgresStore } = await import("./postgres/postgres-store.ts");
  return await PostgresStore.migrate(store);
}

async function largeObjectsAt(address: string | undefined): Promise<LargeObjects | undefined> {
  if (address === undefined) return undefined;
  if (kindOfStore(address) !== "s3") throw invalid("--store-objects must be s3://BUCKET/PREFIX");
  const { LargeObjectBucket } = await import("./s3/large-object-bucket.ts");
  return await LargeObjectBucket.open(address);
}

function kindOfStore(store: string): "postgres" | "s3" | "directory" {
  if (/^postgres(ql)?:\/\//.test(store) && URL.canParse(store)) return "postgres";
  if (/^s3:\/\/[^/]/.test(store) && URL.canParse(store)) return "s3";
  if (store.startsWith("/") || /^[A-Za-z]:[\\/]/.test(store)) return "directory";
  throw invalid("it must be postgres://…, s3://… or the absolute path of a directory");
}

function invalid(detail: string): Fault {
  return new Fault("store_unavailable", { reason: "invalid", detail });
}

/** The address without a password, for people and logs. A password may hold an @, and may be a parameter. */
export function shownAddress(store: string): string {
  const plain = store.replace(/^([a-z0-9]+:\/\/[^:@/?#]*):[^/?#]*@/, "$1@");
  return plain.replace(/([?&][^=&#]*password)=[^&#]*/gi, "$1=…");
}

/**
 * What tells one store from another: the address without a password, which may change. Directories are named after it, so
 * it must stay as it is.
 */
export function storeIdentity(store: string): string {
  if (kindOfStore(store) === "directory") return store;
  const url = new URL(store);
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}
