// A database that has lost a change, after which another replica has written one in its place: the numbers are the same
// again. A replica that was idle meanwhile has noticed neither.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, it } from "vitest";
import { openReplica } from "../../src/engine/replica/open-replica.ts";
import { PostgresStore } from "../../src/engine/store/postgres/postgres-store.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { startPostgres } from "../store/postgres-server.ts";
import { Line, Machine } from "./fixture.ts";

const server = await startPostgres(["fsync=off", "full_page_writes=off"]);
const base = mkdtempSync(join(tmpdir(), "polyfs-equal-"));
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});

async function open(name: string) {
  const [root, state] = [join(base, name), join(base, `state-${name}`)];
  for (const path of [root, state]) mkdirSync(path, { recursive: true, mode: 0o700 });
  const store = await PostgresStore.open(server?.url ?? "");
  const workspace = Workspace.open([{ path: root, access: "read-write" }], { state });
  const replica = await openReplica({ store, name: "w", workspace });
  return Object.assign(new Machine(root, workspace, replica, new Line(store)), {
    async [Symbol.asyncDispose]() {
      await replica[Symbol.asyncDispose]();
      await workspace.settled();
      workspace[Symbol.dispose]();
      await store[Symbol.asyncDispose]();
    },
  });
}

it.skipIf(server === undefined)("is noticed by a read of a replica that was idle", async () => {
  await PostgresStore.migrate(server?.url ?? "");
  await using a = await open("a");
  await a.write("f", "1\n");
  await a.write("f", "lost\n");
  const client = new pg.Client(server?.url);
  await client.connect();
  await client.query(`delete from polyfs_entry where revision = (select revision from polyfs_workspace);
    update polyfs_workspace set revision = revision - 1`);
  await client.end();
  await using b = await open("b");
  await b.write("f", "b's\n");
  expect(b.replica.revision).toBe(a.replica.revision);
  await a.replica.refresh("reads");
  expect(a.replica.staleMs).toBeDefined();
  expect(a.replica.staleCause).toMatchObject({ data: { reason: "damaged" } });
  expect(a.text("f")).toBe("lost\n");
  await b.replica.refresh("reads");
  expect(b.replica.staleMs).toBeUndefined();
});
