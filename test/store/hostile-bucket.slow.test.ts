// A bucket that is, or that others write to: every answer is either right or a failure of the store, and comes in time.
import { randomBytes } from "node:crypto";
import { createServer, type RequestListener, type Server } from "node:http";
import { afterAll, describe, expect, it } from "vitest";
import { S3Bucket } from "../../src/engine/store/s3/bucket.ts";
import { S3Store } from "../../src/engine/store/s3/s3-store.ts";
import type { Damage } from "../../src/engine/store/store.ts";
import { S3Server } from "./s3-server.ts";
import { entry, object } from "./suite.ts";

const server = await S3Server.start();
afterAll(async () => await server[Symbol.asyncDispose]());

const failure = (reason: string) =>
  expect.objectContaining({ code: "store_unavailable", data: expect.objectContaining({ reason }) });

async function answering(
  listener: RequestListener,
): Promise<{ bucket: S3Bucket; server: Server } & AsyncDisposable> {
  const own = createServer(listener);
  await new Promise<void>(resolve => own.listen(0, "127.0.0.1", resolve));
  const { port } = own.address() as { port: number };
  const bucket = S3Bucket.at(`s3://b/p?endpoint=http://127.0.0.1:${port}`, server.environment);
  const close = async () => {
    own.closeAllConnections();
    await new Promise(resolve => own.close(resolve));
  };
  return { bucket, server: own, [Symbol.asyncDispose]: close };
}

async function keys(bucket: S3Bucket): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of bucket.list("o/")) found.push(key);
  return found;
}

const listOf = (names: readonly string[], more = "") =>
  `<ListBucketResult><IsTruncated>${more !== ""}</IsTruncated>${more}${names.map(one => `<Contents><Key>${one}</Key></Contents>`).join("")}</ListBucketResult>`;

describe("a service that lies", () => {
  it.each([
    ["a page that follows itself", listOf(["p/o/1"], "<NextContinuationToken>x</NextContinuationToken>")],
    ["more, without saying where", listOf(["p/o/1"], "<NextContinuationToken></NextContinuationToken>")],
    ["a list out of order", listOf(["p/o/2", "p/o/1"])],
    ["keys that were not asked for", listOf(["p/w/1"])],
    ["the page of a proxy", "<html>Welcome</html>"],
    ["nothing", ""],
    ["half of a list", listOf(["p/o/1", "p/o/2"]).slice(0, -30)],
    ["a list that does not say whether there is more", listOf(["p/o/1"]).replace(/<IsT.*IsTruncated>/, "")],
  ])("does not keep a list going: %s", async (_, body) => {
    await using fake = await answering((_, response) => void response.end(body));
    await expect(keys(fake.bucket)).rejects.toEqual(failure("invalid"));
  });

  it("cannot redirect a request, or make a writer wait for ever", async () => {
    let asked = 0;
    await using other = await answering((_, response) => {
      asked++;
      response.end("stolen");
    });
    const { port } = other.server.address() as { port: number };
    await using fake = await answering((request, response) => {
      if (request.method === "PUT") return void response.writeHead(409).end();
      response.writeHead(307, { location: `http://127.0.0.1:${port}/b/x` }).end();
    });
    await expect(fake.bucket.get("o/1")).rejects.toEqual(failure("invalid"));
    expect(asked).toBe(0);
    await expect(fake.bucket.create("o/1", Buffer.from("x"))).rejects.toEqual(failure("unreachable"));
  });

  it("cannot pass off a part of an object as the whole", async () => {
    await using fake = await answering((_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("only this");
      response.destroy();
    });
    await expect(fake.bucket.get("o/1")).rejects.toEqual(failure("unreachable"));
  });

  it.each([
    ["the page of a proxy", "<html>404 page not found</html>"],
    ["nothing", ""],
    ["that the bucket is missing", "<Error><Code>NoSuchBucket</Code></Error>"],
  ])("cannot pass off an object as missing by answering %s", async (_, body) => {
    await using fake = await answering((_, response) => void response.writeHead(404).end(body));
    await expect(fake.bucket.get("o/1")).rejects.toEqual(failure("invalid"));
  });

  it("is asked again if it is busy, however it says so", async () => {
    const busy = [
      [503, "SlowDown"],
      [429, "TooManyRequests"],
      [400, "RequestTimeout"],
    ] as const;
    for (const [status, code] of busy) {
      let asked = 0;
      await using fake = await answering((_, response) => {
        if (asked++ === 0) return void response.writeHead(status).end(`<Error><Code>${code}</Code></Error>`);
        response.end("content");
      });
      expect(Buffer.from((await fake.bucket.get("o/1")) ?? []).toString()).toBe("content");
    }
  });

  it("is asked with its own clock if this machine's is wrong, and not at all without one", async () => {
    const ahead = 3 * 3_600_000;
    const times: number[] = [];
    await using fake = await answering((request, response) => {
      const date = String(request.headers["x-amz-date"]);
      const time = Date.parse(
        date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"),
      );
      times.push(time);
      response.setHeader("date", new Date(Date.now() + ahead).toUTCString());
      const isSkewed = Math.abs(time - Date.now() - ahead) > 15 * 60_000;
      if (isSkewed) response.writeHead(403).end("<Error><Code>RequestTimeTooSkewed</Code></Error>");
      else response.end("content");
    });
    for (const _ of [1, 2]) expect(await fake.bucket.get("o/1")).toBeDefined();
    expect(times).toHaveLength(3);
    await using timeless = await answering((_, response) => {
      response.sendDate = false;
      response.end(listOf([]));
    });
    await expect(timeless.bucket.now()).rejects.toEqual(failure("invalid"));
  });

  it("is refused if it ignores conditions only under concurrent writes", async () => {
    server.forgetsWhenBusy = true;
    const opening = S3Store.open(server.address(randomBytes(6).toString("hex")), server.environment);
    await expect(opening).rejects.toEqual(failure("conditions"));
    server.forgetsWhenBusy = false;
  });
});

describe("a bucket that others write to", () => {
  const forgeries: readonly (readonly [string, string, string, Damage["what"]])[] = [
    ["an entry that is not JSON", "log/000000000002", "{", "damaged_entry"],
    ["an entry that is null", "log/000000000002", "null", "damaged_entry"],
    [
      "an entry without objects",
      "log/000000000002",
      '{"id":"x","body":"{}","bytes":1,"total":1}',
      "damaged_entry",
    ],
    [
      "an entry with negative bytes",
      "log/000000000002",
      '{"id":"x","body":"{}","objects":[],"bytes":-5,"total":-5}',
      "damaged_entry",
    ],
    [
      "objects that are paths",
      "log/000000000002",
      '{"id":"x","body":"{}","objects":["../w"],"bytes":1,"total":1}',
      "damaged_entry",
    ],
    [
      "a revision far away",
      "log/999999999999",
      '{"id":"x","body":"{}","objects":[],"bytes":1,"total":1}',
      "missing_entry",
    ],
    ["a description that is null", "about", "null", "damaged_workspace"],
    ["the description of another one", "about", '{"id":"ab","name":"b","about":{}}', "damaged_workspace"],
    [
      "a circle of origins",
      "about",
      '{"id":"ID","name":"a","about":{},"parent":{"workspace":"../x","revision":1}}',
      "damaged_workspace",
    ],
  ];

  it.each(forgeries)(
    "%s at %s is named, and neither read nor written over",
    async (_, key, content, what) => {
      const prefix = randomBytes(6).toString("hex");
      const open = () => S3Store.open(server.address(prefix), server.environment);
      const first = await open();
      const made = await first.create({ name: "a" });
      if (typeof made === "string") throw new Error(made);
      const one = object("one");
      await first.append(made.id, 0, entry("first", [one]), { objects: [one] });
      await first.append(made.id, 1, entry("second"));
      const bytes = Buffer.from(content.replace("ID", made.id));
      server.objects.set(`${prefix}/w/${made.id}/${key}`, { bytes, modified: Date.now() });
      await using store = await open();
      const damages: string[] = [];
      for await (const damage of store.check()) damages.push(damage.what);
      expect(damages).toContain(what);
      await store.list();
      const before = [...server.objects.keys()].filter(one => one.startsWith(prefix)).length;
      for (const action of [
        () => store.entries(made.id, 0, 5),
        () => store.append(made.id, 2, entry("third")),
        () => store.collect({ graceMs: 0 }),
      ]) {
        const result = await action().catch((error: unknown) => error);
        if (result instanceof Error) expect(result).toEqual(failure("damaged"));
        else expect(JSON.stringify(result)).not.toMatch(/appended|"objects":1/);
      }
      expect([...server.objects.keys()].filter(one => one.startsWith(prefix))).toHaveLength(before);
    },
  );

  async function withLog(prefix: string) {
    const store = await S3Store.open(server.address(prefix), server.environment);
    const made = await store.create({ name: "a" });
    if (typeof made === "string") throw new Error(made);
    const one = object("one");
    await store.append(made.id, 0, entry("first", [one]), { objects: [one] });
    await store.append(made.id, 1, entry("second"));
    return { store, id: made.id };
  }

  it.each([
    ["half of it", (id: string) => id.slice(0, 10)],
    ["nothing", () => ""],
    ["another workspace", () => "0123456789abcdef0123"],
    ["that it was dropped", (id: string) => `${id} dropped`],
  ])(
    "a workspace whose name holds %s is damaged: it is not dropped, and not collected",
    async (_, forged) => {
      const prefix = randomBytes(6).toString("hex");
      const { id } = await withLog(prefix);
      const [key = ""] = [...server.objects.keys()].filter(one => one.startsWith(`${prefix}/n/`));
      const kept = server.objects.get(key);
      server.objects.set(key, { bytes: Buffer.from(forged(id)), modified: Date.now() });
      await using store = await S3Store.open(server.address(prefix), server.environment);
      await expect(store.collect({ graceMs: 0 })).rejects.toEqual(failure("damaged"));
      await expect(store.info(id)).rejects.toEqual(failure("damaged"));
      await expect(store.append(id, 2, entry("third"))).rejects.toEqual(failure("damaged"));
      if (kept !== undefined) server.objects.set(key, kept);
      expect(await store.info(id)).toMatchObject({ revision: 2 });
      expect(await store.collect({ graceMs: 0 })).toMatchObject({ workspaces: 0, objects: 0 });
    },
  );

  it("an entry in the place of another one is damage, and is read again when it is right", async () => {
    const prefix = randomBytes(6).toString("hex");
    const { id } = await withLog(prefix);
    const key = (revision: number) => `${prefix}/w/${id}/log/00000000000${revision}`;
    const [first, second] = [server.objects.get(key(1)), server.objects.get(key(2))];
    if (first === undefined || second === undefined) throw new Error("no log");
    server.objects.set(key(2), first);
    await using store = await S3Store.open(server.address(prefix), server.environment);
    await expect(store.entries(id, 0, 5)).rejects.toEqual(failure("damaged"));
    await expect(store.append(id, 2, entry("third"))).rejects.toEqual(failure("damaged"));
    server.objects.set(key(2), second);
    expect((await store.entries(id, 0, 5)).map(one => one.body)).toEqual(["first", "second"]);
    expect(await store.append(id, 2, entry("third"))).toMatchObject({ result: "appended" });
  });

  it("a key beside a log is not part of it", async () => {
    const prefix = randomBytes(6).toString("hex");
    await using store = await S3Store.open(server.address(prefix), server.environment);
    const made = await store.create({ name: "a" });
    if (typeof made === "string") throw new Error(made);
    const path = `${prefix}/w/${made.id}/log`;
    for (const name of ["notes", "000000000009.bak", "abcabcabcabc"])
      server.objects.set(`${path}/${name}`, { bytes: Buffer.from("x"), modified: Date.now() });
    expect(await store.append(made.id, 0, entry("first"))).toMatchObject({ result: "appended" });
    expect(await store.info(made.id)).toMatchObject({ revision: 1 });
  });
});
