// Files as resources: roots in the list, everything else by a template with completion, and changes told to who
// subscribed, in both eras.
import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { envelope } from "../../mcp/in-process.ts";
import { start } from "../../mcp/wire.ts";
import { Fixture, type Server } from "./fixture.ts";

let fixture: Fixture;
let server: Server;
beforeAll(async () => {
  fixture = new Fixture({
    "a.txt": "hello\n",
    "ä b.txt": Buffer.from("f\xfcr k\xf6ln, sch\xf6n, sp\xe4ter\n", "latin1"),
    "p.png": Buffer.from([0x89, 0, 1]),
    "src/main.ts": "",
    "src/mend.ts": "",
    "src/other.ts": "",
  });
  server = await fixture.serve();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const uri = (path: string) => pathToFileURL(fixture.path(path)).href;
const ask = async (method: string, params: unknown = {}) => {
  const { result, error } = await server.wire.request(method, params);
  return result ?? { error };
};

describe("resources", () => {
  it("are the roots, and a template for all files in them", async () => {
    expect(await ask("resources/list")).toEqual({
      resources: [
        {
          uri: pathToFileURL(fixture.root).href,
          name: "root",
          description: "A root (read-write)",
          mimeType: "inode/directory",
        },
      ],
    });
    expect(await ask("resources/templates/list")).toMatchObject({
      resourceTemplates: [{ uriTemplate: "file:///{+path}", name: "file" }],
    });
  });

  it("are read as text in any encoding, as bytes, or as a list of names", async () => {
    const contents = async (path: string) =>
      ((await ask("resources/read", { uri: uri(path) })).contents as unknown[])[0];
    expect(await contents("a.txt")).toEqual({ uri: uri("a.txt"), mimeType: "text/plain", text: "hello\n" });
    expect(await contents("ä b.txt")).toMatchObject({ text: "für köln, schön, später\n" });
    expect(await contents("p.png")).toMatchObject({
      mimeType: "image/png",
      blob: Buffer.from([0x89, 0, 1]).toString("base64"),
    });
    expect(await contents("src")).toMatchObject({
      mimeType: "inode/directory",
      text: "main.ts\nmend.ts\nother.ts",
    });
  });

  it("have lists in which a name forges no entry", async () => {
    mkdirSync(fixture.path("odd"));
    mkdirSync(fixture.path("odd/one\nsrc"));
    writeFileSync(fixture.path("odd/two\u2028x\u001b[2J"), "");
    const { contents } = await ask("resources/read", { uri: uri("odd") });
    expect((contents as { text: string }[])[0]?.text).toBe("one\\x0asrc/\ntwo\\xe2\\x80\\xa8x\\x1b[2J");
  });

  it("outside the roots or missing are errors", async () => {
    expect(await ask("resources/read", { uri: uri("nope") })).toMatchObject({ error: { code: -32002 } });
    for (const wrong of [
      "file:///etc/passwd",
      "http://example.com",
      5,
      `${uri("a.txt")}/../../../etc/passwd`,
    ])
      expect(await ask("resources/read", { uri: wrong })).toMatchObject({ error: { code: -32602 } });
  });

  it("are completed, name by name", async () => {
    const complete = async (value: string) =>
      (
        await ask("completion/complete", {
          ref: { type: "ref/resource", uri: "file:///{+path}" },
          argument: { name: "path", value },
        })
      ).completion as { values: string[] };
    const root = fixture.root.slice(1);
    expect((await complete(`${root}/src/m`)).values).toEqual([`${root}/src/main.ts`, `${root}/src/mend.ts`]);
    expect((await complete(`${root}/s`)).values).toEqual([`${root}/src/`]);
    expect((await complete("")).values).toEqual([`${root}/`]);
    expect((await complete("etc/pass")).values).toEqual([]);
  });

  it("are sent to a legacy client that subscribed, until it unsubscribes", async () => {
    const updated = () => server.wire.next(message => message.method === "notifications/resources/updated");
    expect(await ask("resources/subscribe", { uri: uri("a.txt") })).toEqual({});
    writeFileSync(fixture.path("a.txt"), "changed from outside\n");
    expect((await updated()).params).toEqual({ uri: uri("a.txt") });
    await server.says("delete_path", { path: "a.txt" });
    expect((await updated()).params).toEqual({ uri: uri("a.txt") });
    await ask("resources/subscribe", { uri: uri("src/main.ts") });
    await ask("resources/unsubscribe", { uri: uri("a.txt") });
    fixture.write("a.txt", "back\n");
    fixture.write("src/main.ts", "changed\n");
    expect((await updated()).params).toEqual({ uri: uri("src/main.ts") });
  });

  it("are sent to a modern client that listens, stamped with its request, until it leaves", async () => {
    const wire = await start({ dialect: "polyfs", roots: [fixture.root] });
    const found = await wire.request("server/discover", { _meta: envelope() });
    expect(found.result?.capabilities).toEqual({
      tools: {},
      resources: { subscribe: true },
      completions: {},
    });
    const params = { _meta: envelope(), notifications: { resourceSubscriptions: [uri("src/mend.ts")] } };
    const answer = wire.request("subscriptions/listen", params, "ear");
    const stamp = { "io.modelcontextprotocol/subscriptionId": "ear" };
    const acknowledged = await wire.next(
      ({ method }) => method === "notifications/subscriptions/acknowledged",
    );
    expect(acknowledged.params).toEqual({
      notifications: { resourceSubscriptions: [uri("src/mend.ts")] },
      _meta: stamp,
    });
    writeFileSync(fixture.path("src/mend.ts"), "new\n");
    const told = await wire.next(({ method }) => method === "notifications/resources/updated");
    expect(told.params).toEqual({ uri: uri("src/mend.ts"), _meta: stamp });
    const closed = wire.close();
    expect((await answer).result).toMatchObject({ resultType: "complete", _meta: stamp });
    await closed;
  });

  it("are not offered by dialects whose contracts define none", async () => {
    await using wire = await start({ dialect: "fs", roots: [fixture.root] });
    expect((await wire.initialize()).result?.capabilities).toEqual({ tools: {} });
    expect((await wire.request("resources/list")).error?.code).toBe(-32601);
  });
});
