// Replicas on a PostgreSQL that does not answer: it takes too long, refuses connections, or takes rights away. What cannot
// be asked is neither empty nor gone: writes are refused with nothing changed, and everything goes on afterwards.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { openReplica } from "../../src/engine/replica/open-replica.ts";
import { PostgresStore } from "../../src/engine/store/postgres/postgres-store.ts";
import { Workspace } from "../../src/engine/workspace/workspace.ts";
import { startPostgres } from "../store/postgres-server.ts";
import { Line, Machine } from "./fixture.ts";

const server = await startPostgres(["fsync=off", "full_page_writes=off"]);
const base = mkdtempSync(join(tmpdir(), "polyfs-unanswered-"));
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(base, { recursive: true, force: true });
});

const role = "replica";
const tables = "polyfs_object, polyfs_workspace, polyfs_entry, polyfs_reference";

async function admin(text: string): Promise<void> {
  const client = new pg.Client(server?.url);
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** A way to keep the database from answering, and back. */
const obstacles: Record<string, () => Promise<() => Promise<void>>> = {
  "statements that take too long": async () => {
    const client = new pg.Client(server?.url);
    await client.connect();
    await client.query("begin; lock table polyfs_entry, polyfs_workspace in access exclusive mode");
    return async () => {
      await client.query("rollback");
      await client.end();
    };
  },
  "statements that take too long, of the log alone": async () => {
    const client = new pg.Client(server?.url);
    await client.connect();
    await client.query("begin; lock table polyfs_entry in access exclusive mode");
    return async () => {
      await client.query("rollback");
      await client.end();
    };
  },
  "connections that are refused": async () => {
    await server?.stop?.();
    return async () => await server?.start?.();
  },
  "no right to anything": async () => {
    await admin(`revoke all on ${tables} from ${role}`);
    return async () => await admin(`grant all on ${tables} to ${role}`);
  },
  "no right to read objects": async () => {
    await admin(`revoke select on polyfs_object from ${role}`);
    return async () => await admin(`grant all on ${tables} to ${role}`);
  },
};

const unavailable = expect.objectContaining({ code: "store_unavailable" });
const by = { action: "run_command", client: "test" };

describe.skipIf(server?.stop === undefined)("a replica whose database does not answer", () => {
  it.each(Object.entries(obstacles))("%s", async (what, obstruct) => {
    const name = what.replaceAll(/\W/g, "");
    await PostgresStore.migrate(server?.url ?? "");
    await admin(`do $$ begin create role ${role} login; exception when duplicate_object then null; end $$;
      alter role ${role} set statement_timeout = '2s'; grant all on ${tables}, polyfs_schema to ${role}`);
    const url = (server?.url ?? "").replace("polyfs@", `${role}@`);
    const open = async (machine: string) => {
      const [root, state] = [join(base, name, machine), join(base, name, `state-${machine}`)];
      for (const path of [root, state]) mkdirSync(path, { recursive: true, mode: 0o700 });
      const store = await PostgresStore.open(url, { patienceMs: 3000 });
      const workspace = Workspace.open([{ path: root, access: "read-write" }], { state });
      try {
        const replica = await openReplica({ store, name, workspace });
        return Object.assign(new Machine(root, workspace, replica, new Line(store)), {
          async [Symbol.asyncDispose]() {
            await replica[Symbol.asyncDispose]();
            await workspace.settled();
            workspace[Symbol.dispose]();
            await store[Symbol.asyncDispose]();
          },
        });
      } catch (error) {
        workspace[Symbol.dispose]();
        await store[Symbol.asyncDispose]();
        throw error;
      }
    };
    await using a = await open("a");
    await using b = await open("b");
    await a.write("f", "1\n2\n3\n");
    await b.replica.refresh("writes");
    const before = a.tree();
    const clear = await obstruct();
    try {
      await expect(a.write("f", "lost\n")).rejects.toEqual(unavailable);
      expect(a.tree()).toEqual(before);
      await expect(open("c")).rejects.toEqual(unavailable);
      b.put("f", "1\n2\nby a command\n");
      await expect(b.replica.publishChanges(by)).rejects.toEqual(unavailable);
      await b.replica.refresh("reads");
      expect(b.text("f")).toBe("1\n2\nby a command\n");
    } finally {
      await clear();
    }
    await a.replica.refresh("writes");
    await a.edit("f", text => text.replace("1", "one"));
    await b.replica.refresh("writes");
    await b.replica.publishChanges(by);
    await a.replica.refresh("writes");
    expect(a.text("f")).toBe("one\n2\nby a command\n");
    expect(b.tree()).toEqual(a.tree());
    await using c = await open("c");
    expect(c.tree()).toEqual(a.tree());
    expect(c.replica.id).toBe(a.replica.id);
  });
});
