// The store in a bucket of a real service. `POLYFS_TEST_S3` names it (s3://BUCKET/?endpoint=URL), keys are in the
// environment as for every tool; `npm run proof -- store --s3` starts one.
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { S3Store } from "../../src/engine/store/s3/s3-store.ts";
import { signed } from "../../src/engine/store/s3/signature.ts";
import { AgeingProxy } from "./ageing-proxy.ts";
import { entry, object, type Place, storeSuite } from "./suite.ts";

const address = process.env.POLYFS_TEST_S3;
if (address === undefined)
  describe("the store: an S3 service", () => {
    it.skip("POLYFS_TEST_S3 names none", () => {});
  });
else {
  const { hostname: bucket, searchParams } = new URL(address);
  const endpoint = searchParams.get("endpoint") ?? "";
  await createBucket(`${endpoint}/${bucket}`);

  const fixture = async (): Promise<Place> => {
    const proxy = new AgeingProxy(endpoint);
    const url = await proxy.listen();
    const prefix = randomBytes(6).toString("hex");
    return {
      open: () => S3Store.open(`s3://${bucket}/${prefix}?endpoint=${encodeURIComponent(url)}`),
      age: ms => proxy.age(ms),
      [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
    };
  };

  storeSuite("an S3 service", fixture, { runs: 4, writers: 6 });

  describe("the store in a bucket of a service", () => {
    it("gives each revision to one of many writers, each with its own connections", async () => {
      await using place = await fixture();
      const stores = await Promise.all(Array.from({ length: 5 }, () => place.open()));
      const made = await stores[0]?.create({ name: "a" });
      if (made === undefined || typeof made === "string") throw new Error(made);
      const one = object("one");
      await stores[0]?.put([one]);
      for (let revision = 0; revision < 5; revision++) {
        const raced = stores.map((store, i) => store.append(made.id, revision, entry(`${i}`, [one])));
        const results = (await Promise.all(raced)).map(({ result }) => result).sort();
        expect(results).toEqual(["appended", ...Array(4).fill("stale")]);
      }
      for (const store of stores) await store[Symbol.asyncDispose]();
    });
  });
}

async function createBucket(url: string): Promise<void> {
  const { AWS_ACCESS_KEY_ID: accessKey = "", AWS_SECRET_ACCESS_KEY: secretKey = "" } = process.env;
  const credentials = { accessKey, secretKey, region: process.env.AWS_REGION ?? "us-east-1" };
  const request = { method: "PUT", url: new URL(url), headers: {} };
  const { status } = await fetch(url, { method: "PUT", headers: signed(request, credentials, new Date()) });
  if (status !== 200 && status !== 409) throw new Error(`the bucket cannot be created: ${status}`);
}
