// The store in PostgreSQL, on a server of the tests' own: the shared suite, and what only a database can do to one.
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { PostgresStore } from "../../src/engine/store/postgres/postgres-store.ts";
import { contentHash } from "../../src/engine/text/version.ts";
import { MuteLink } from "./mute-link.ts";
import { startPostgres } from "./postgres-server.ts";
import { SlowLink } from "./slow-link.ts";
import { entry, object, type Place, storeSuite } from "./suite.ts";

const server = await startPostgres(["fsync=off", "full_page_writes=off"]);
afterAll(async () => await server?.[Symbol.asyncDispose]());

async function admin(text: string, url = server?.url): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/** A schema of its own in the server. */
class Fixture implements Place {
  readonly schema = `s${randomBytes(6).toString("hex")}`;
  readonly url = `${server?.url}?options=${encodeURIComponent(`-c search_path=${this.schema}`)}`;

  static async make({ migrated = true } = {}): Promise<Fixture> {
    const fixture = new Fixture();
    await admin(`create schema ${fixture.schema}`);
    if (migrated) await PostgresStore.migrate(fixture.url);
    return fixture;
  }

  open() {
    return PostgresStore.open(this.url);
  }

  async age(ms: number) {
    const interval = `interval '${ms} milliseconds'`;
    await admin(`update polyfs_object set used = used - ${interval}`, this.url);
    await admin(`update polyfs_workspace set dropped = dropped - ${interval}`, this.url);
  }

  async [Symbol.asyncDispose]() {
    await admin(`drop schema ${this.schema} cascade`);
  }
}

if (server === undefined) {
  describe("the store: PostgreSQL", () => {
    it.skip("PostgreSQL is not installed, and POLYFS_TEST_POSTGRES names none", () => {});
  });
} else {
  storeSuite("PostgreSQL", () => Fixture.make(), { runs: 10 });

  describe("the store in PostgreSQL", () => {
    it("is set up once, by any number of concurrent migrations, and a server refuses to start before", async () => {
      await using fixture = await Fixture.make({ migrated: false });
      await expect(fixture.open()).rejects.toMatchObject({ data: { reason: "schema" } });
      const done = await Promise.all([1, 2, 3].map(() => PostgresStore.migrate(fixture.url)));
      expect(done.map(({ from }) => from).sort()).toEqual([0, 1, 1]);
      await using store = await fixture.open();
      expect(await store.list()).toEqual([]);
      await admin("update polyfs_schema set version = 9, oldest = 1", fixture.url);
      await using _newer = await fixture.open();
      await admin("update polyfs_schema set oldest = 9", fixture.url);
      await expect(fixture.open()).rejects.toMatchObject({
        data: { reason: "schema", detail: expect.stringContaining("newer") },
      });
    });

    it("reports what is wrong: address, password, rights, a read-only server, a full disk", async () => {
      await using fixture = await Fixture.make();
      const { host } = new URL(fixture.url);
      const reason = (url: string) =>
        PostgresStore.open(url, { patienceMs: 3000 }).then(
          async store => {
            await store[Symbol.asyncDispose]();
            return "none";
          },
          error => error.data?.reason,
        );
      expect(await reason("postgres://polyfs@127.0.0.1:1/postgres")).toBe("unreachable");
      expect(await reason(fixture.url.replace(/\/postgres\?/, "/nowhere?"))).toBe("invalid");
      expect(await reason(fixture.url.replace("polyfs@", "nobody_here@"))).toBe("credentials");
      expect(await reason(`${fixture.url}&sslmode=sometimes`)).toBe("invalid");
      expect(await reason(`${fixture.url}&sslmode=require`)).not.toBe("none"); // this server has no certificate
      await admin(`create role guest_${fixture.schema} login`);
      await admin(`grant usage on schema ${fixture.schema} to guest_${fixture.schema}`);
      try {
        expect(await reason(fixture.url.replace("polyfs@", `guest_${fixture.schema}@`))).toBe("rights");
      } finally {
        await admin(`drop owned by guest_${fixture.schema}; drop role guest_${fixture.schema}`);
      }
      const readOnly = `postgres://polyfs@${host}/postgres?options=${encodeURIComponent(
        `-c search_path=${fixture.schema} -c default_transaction_read_only=on`,
      )}`;
      await using store = await PostgresStore.open(readOnly);
      await expect(store.create({ name: "a" })).rejects.toMatchObject({ data: { reason: "read_only" } });
      expect(await store.list()).toEqual([]);
      await admin(
        `create function full_disk() returns trigger language plpgsql as $$
        begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$`,
        fixture.url,
      );
      await admin(
        "create trigger full_disk before insert on polyfs_entry for each row execute function full_disk()",
        fixture.url,
      );
      await using writing = await fixture.open();
      const made = await writing.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      const attempt = writing.append(made.id, 0, entry("a", [object("a")]), { objects: [object("a")] });
      await expect(attempt).rejects.toMatchObject({ data: { reason: "full" } });
      expect(await writing.info(made.id)).toMatchObject({ revision: 0, bytes: 0 });
    });

    it("recovers after its connections were cut, and writes no entry twice", async () => {
      await using fixture = await Fixture.make();
      await using store = await fixture.open();
      const made = await store.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      const cut = `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'polyfs' and query not like '%pg_stat%'`;
      const writing = (async () => {
        for (let i = 0; i < 60; i++) {
          const done = await store.append(made.id, i, entry(`entry ${i}`));
          expect(done).toEqual({ result: "appended", revision: i + 1 });
        }
      })();
      for (let i = 0; i < 5; i++) await admin(cut);
      await writing;
      const bodies = (await store.entries(made.id, 0, 100)).map(({ body }) => body);
      expect(bodies).toEqual(Array.from({ length: 60 }, (_, i) => `entry ${i}`));
    });

    it("hears again what others append after the network has dropped the quiet connection without a word", async () => {
      await using fixture = await Fixture.make();
      await using link = await MuteLink.to(fixture.url);
      await using listening = await PostgresStore.open(link.url, { patienceMs: 200 });
      await using writing = await fixture.open();
      const made = await writing.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      const heard: number[] = [];
      listening.changed((_, revision) => heard.push(revision));
      let revision = 0;
      const append = () => writing.append(made.id, revision++, entry(`entry ${revision}`));
      const hears = async () => {
        const before = heard.length;
        await append();
        await pause(100);
        return heard.length > before;
      };
      await expect.poll(hears, { timeout: 10_000 }).toBe(true);
      link.mute();
      expect(await hears()).toBe(false);
      // Nothing is appended after this: the announcements that were missed arrive after reconnecting.
      await expect.poll(() => heard.at(-1), { timeout: 20_000 }).toBe(revision);
      await expect.poll(hears, { timeout: 20_000 }).toBe(true);
    }, 60_000);

    it("carries an object that takes longer than its patience with a link that is dead", async () => {
      await using fixture = await Fixture.make();
      const { link, url } = await SlowLink.to(fixture.url, 4_000_000);
      await using _ = link;
      await using store = await PostgresStore.open(url, { patienceMs: 1500 });
      const made = await store.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      const bytes = randomBytes(10_000_000);
      const large = [contentHash(bytes), bytes] as const;
      const done = await store.append(made.id, 0, entry("a", [large]), { objects: [large] });
      expect(done).toMatchObject({ result: "appended" });
      expect(Buffer.from((await store.get(made.id, large[0])) ?? []).equals(bytes)).toBe(true);
    }, 60_000);

    it("looks at the whole store for as long as that takes", async () => {
      await using fixture = await Fixture.make();
      await using store = await PostgresStore.open(fixture.url, { patienceMs: 500 });
      const locking = new pg.Client(fixture.url);
      await locking.connect();
      await locking.query("begin; lock table polyfs_object in access exclusive mode");
      const found: string[] = [];
      const checked = (async () => {
        for await (const { where } of store.check()) found.push(where);
      })();
      const looks = [checked, store.collect({ graceMs: 0 }), store.collect({ graceMs: 0, dryRun: true })];
      const outcomes = Promise.allSettled(looks);
      await pause(1500);
      await locking.end();
      expect((await outcomes).map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
      expect(found).toEqual([]);
    });

    it("works where connections forget prepared statements, as behind some poolers", async () => {
      await using fixture = await Fixture.make();
      const forget = "begin execute 'deallocate all'; return new; end";
      await admin(
        `create function forget() returns trigger language plpgsql as $$ ${forget} $$;
         create trigger forget after update on polyfs_workspace for each row execute function forget()`,
        fixture.url,
      );
      await using store = await PostgresStore.open(fixture.url, { connections: 1 });
      const made = await store.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      for (let revision = 1; revision <= 4; revision++) {
        expect(await store.append(made.id, revision - 1, entry(`${revision}`))).toMatchObject({ revision });
        expect(await store.info(made.id)).toMatchObject({ name: "a", revision, about: {} });
      }
      expect(await store.entries(made.id, 0, 10)).toHaveLength(4);
    });

    it("keeps every acknowledged entry when the server crashes, and continues when it is back", async context => {
      const { restart } = server;
      if (restart === undefined) return context.skip("the server is not ours");
      await using fixture = await Fixture.make();
      await using store = await fixture.open();
      const made = await store.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      await store.append(made.id, 0, entry("before"));
      const hints: number[] = [];
      store.changed((_, revision) => hints.push(revision));
      await restart();
      const append = async (): Promise<void> => {
        const done = await store.append(made.id, 1, entry("after")).catch(() => undefined);
        if (done?.result !== "appended") return append();
      };
      await append();
      expect((await store.entries(made.id, 0, 9)).map(({ body }) => body)).toEqual(["before", "after"]);
    });

    it("names what is damaged", async () => {
      await using fixture = await Fixture.make();
      await using store = await fixture.open();
      const made = await store.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      const [lost, torn] = [object("lost"), object("torn")];
      for (const [i, one] of [lost, torn, object("fine")].entries())
        await store.append(made.id, i, entry("entry", [one]), { objects: [one] });
      await admin(`delete from polyfs_object where hash = '\\x${lost[0]}'`, fixture.url);
      await admin(`update polyfs_object set bytes = 'tor' where hash = '\\x${torn[0]}'`, fixture.url);
      await admin("delete from polyfs_entry where revision = 2", fixture.url);
      const damages = [];
      for await (const { what, where, workspaces } of store.check()) damages.push([what, where, workspaces]);
      expect(damages).toEqual([
        ["damaged_object", torn[0], ["a"]],
        ["missing_entry", "a/2", ["a"]],
        ["missing_object", lost[0], ["a"]],
      ]);
    });

    it("names a head that does not match its log, however far off", async () => {
      await using fixture = await Fixture.make();
      await using store = await fixture.open();
      const made = await store.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      for (let i = 0; i < 3; i++) await store.append(made.id, i, entry(`entry ${i}`));
      for (const [revision, expected, appended] of [
        [
          "9223372036854775807",
          [
            ["damaged_workspace", "a"],
            ["missing_entry", "a/4-9223372036854775807"],
          ],
          2 ** 63,
        ],
        ["4", [["missing_entry", "a/4"]], 9],
        [
          "1",
          [
            ["damaged_entry", "a/2"],
            ["damaged_entry", "a/3"],
          ],
          1,
        ],
        [
          "0",
          [
            ["damaged_entry", "a/1"],
            ["damaged_entry", "a/2"],
            ["damaged_entry", "a/3"],
          ],
          0,
        ],
        [
          "-1",
          [
            ["damaged_entry", "a/1"],
            ["damaged_entry", "a/2"],
            ["damaged_entry", "a/3"],
            ["damaged_workspace", "a"],
          ],
          9,
        ],
      ] as const) {
        await admin(`update polyfs_workspace set revision = ${revision}`, fixture.url);
        const damages = [];
        for await (const { what, where } of store.check()) damages.push([what, where]);
        expect(damages).toEqual(expected);
        const attempt = store.append(made.id, appended, entry("next"));
        if (appended === 9) expect(await attempt).toEqual({ result: "stale" });
        else await expect(attempt).rejects.toMatchObject({ data: { reason: "damaged" } });
      }
    });
  });
}
