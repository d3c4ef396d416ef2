// The store in a bucket, on a small S3 of the tests' own.
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { PostgresStore } from "../../src/engine/store/postgres/postgres-store.ts";
import { S3Bucket } from "../../src/engine/store/s3/bucket.ts";
import { LargeObjectBucket } from "../../src/engine/store/s3/large-object-bucket.ts";
import { S3Store } from "../../src/engine/store/s3/s3-store.ts";
import { signed } from "../../src/engine/store/s3/signature.ts";
import { startPostgres } from "./postgres-server.ts";
import { S3Server } from "./s3-server.ts";
import { SlowLink } from "./slow-link.ts";
import { entry, object, type Place, storeSuite } from "./suite.ts";

const server = await S3Server.start();
afterAll(async () => await server[Symbol.asyncDispose]());

class Fixture implements Place {
  readonly prefix = randomBytes(6).toString("hex");

  open() {
    return S3Store.open(server.address(this.prefix), server.environment);
  }

  async age(ms: number) {
    for (const [key, one] of server.objects) if (key.startsWith(`${this.prefix}/`)) one.modified -= ms;
  }

  async [Symbol.asyncDispose]() {
    for (const key of server.objects.keys())
      if (key.startsWith(`${this.prefix}/`)) server.objects.delete(key);
  }
}

storeSuite("S3", async () => new Fixture(), { runs: 8, writers: 6 });

describe("the store in a bucket", () => {
  it("signs as the service documents it", () => {
    const { authorization } = signed(
      {
        method: "GET",
        url: new URL("https://examplebucket.s3.amazonaws.com/test.txt"),
        headers: { range: "bytes=0-9" },
      },
      {
        accessKey: "AKIAIOSFODNN7EXAMPLE",
        secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region: "us-east-1",
      },
      new Date("2013-05-24T00:00:00Z"),
    );
    expect(authorization).toContain("f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
  });

  it("refuses a bucket that ignores conditions, wrong keys and missing keys", async () => {
    await using fixture = new Fixture();
    server.ignoresConditions = true;
    await expect(fixture.open()).rejects.toMatchObject({ data: { reason: "conditions" } });
    server.ignoresConditions = false;
    const address = server.address(fixture.prefix);
    const wrong = { ...server.environment, AWS_SECRET_ACCESS_KEY: "another" };
    await expect(S3Store.open(address, wrong)).rejects.toMatchObject({ data: { reason: "credentials" } });
    await expect(S3Store.open(address, {})).rejects.toMatchObject({ data: { reason: "credentials" } });
    await expect(
      S3Store.open("s3://b/p?endpoint=http://127.0.0.1:1", server.environment),
    ).rejects.toMatchObject({
      data: { reason: "unreachable" },
    });
  });

  it("carries an object that takes longer than its patience with a service that is silent", async () => {
    const slow = await SlowLink.to(server.url, 4_000_000);
    await using _ = slow.link;
    const at = (url: string) =>
      S3Bucket.at(`s3://bucket/large?endpoint=${encodeURIComponent(url)}`, server.environment, 1500);
    const bytes = randomBytes(10_000_000);
    await at(slow.url).put("one", bytes);
    expect(Buffer.from((await at(slow.url).get("one")) ?? []).equals(bytes)).toBe(true);
    const silent = await SlowLink.to(server.url, 0);
    await using __ = silent.link;
    await expect(at(silent.url).get("one")).rejects.toMatchObject({ data: { reason: "unreachable" } });
  }, 60_000);

  it("makes an append once if its answer was lost", async () => {
    await using fixture = new Fixture();
    await using store = await fixture.open();
    const made = await store.create({ name: "a" });
    if (typeof made === "string") throw new Error(made);
    const one = object("one");
    await store.put([one]);
    server.losesNext = true;
    expect(await store.append(made.id, 0, entry("first", [one]))).toEqual({
      result: "appended",
      revision: 1,
    });
    expect(await store.append(made.id, 1, entry("second", [one]))).toEqual({
      result: "appended",
      revision: 2,
    });
    expect((await store.entries(made.id, 0, 9)).map(({ body }) => body)).toEqual(["first", "second"]);
  });
});

describe("large objects in a bucket beside the database", () => {
  it("are put, read, checked and collected there", async context => {
    await using database = await startPostgres(["fsync=off"]);
    if (database === undefined) return context.skip("PostgreSQL is not installed");
    const prefix = randomBytes(6).toString("hex");
    const large = await LargeObjectBucket.open(server.address(prefix), server.environment);
    await PostgresStore.migrate(database.url);
    await using store = await PostgresStore.open(database.url, { large });
    const made = await store.create({ name: `w${prefix}` });
    if (typeof made === "string") throw new Error(made);
    const [big, small, unused] = [
      object("big ".repeat(400_000)),
      object("small"),
      object("unused".repeat(300_000)),
    ];
    await store.append(made.id, 0, entry("both", [big, small]), { objects: [big, small] });
    const inBucket = () => [...server.objects.keys()].filter(key => key.startsWith(`${prefix}/`));
    expect(inBucket()).toEqual([expect.stringContaining(big[0])]);
    expect(Buffer.from((await store.get(made.id, big[0])) ?? []).equals(big[1])).toBe(true);
    await store.put([unused, big]);
    expect(inBucket()).toHaveLength(2);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(await store.collect({ graceMs: 10 })).toMatchObject({ objects: 1 });
    expect(inBucket()).toEqual([expect.stringContaining(big[0])]);
    server.objects.clear();
    const damages = [];
    for await (const { what, where } of store.check()) damages.push([what, where]);
    expect(damages).toEqual([["missing_object", big[0]]]);
  });

  it("are not collected by another database that uses the same bucket", async context => {
    await using one = await startPostgres(["fsync=off"]);
    await using other = await startPostgres(["fsync=off"]);
    if (one === undefined || other === undefined) return context.skip("PostgreSQL is not installed");
    const prefix = randomBytes(6).toString("hex");
    const open = async (url: string) => {
      const large = await LargeObjectBucket.open(server.address(prefix), server.environment);
      await PostgresStore.migrate(url);
      return await PostgresStore.open(url, { large });
    };
    await using first = await open(one.url);
    await using second = await open(other.url);
    const made = await first.create({ name: "w" });
    if (typeof made === "string") throw new Error(made);
    const big = object("big ".repeat(400_000));
    await first.append(made.id, 0, entry("big", [big]), { objects: [big] });
    // What a writer of the second one left that died before it wrote the row.
    await second.put([object("left".repeat(300_000))]);
    const [, left = ""] = [...server.objects.keys()].filter(key => key.startsWith(`${prefix}/`));
    server.objects.set(`${left}dead`, { bytes: Buffer.from("left"), modified: 0 });
    for (const [key, stored] of server.objects)
      if (key.startsWith(`${prefix}/`)) stored.modified = Date.now() - 60_000;
    await new Promise(resolve => setTimeout(resolve, 20));
    await second.collect({ graceMs: 10 });
    expect(Buffer.from((await first.get(made.id, big[0])) ?? []).equals(big[1])).toBe(true);
    expect([...server.objects.keys()].filter(key => key.startsWith(`${prefix}/`))).toHaveLength(1);
  });
});
