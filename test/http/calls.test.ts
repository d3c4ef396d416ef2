// Calls over HTTP: exact answers, turns, and what happens when a client leaves or the server ends.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { tool } from "../../src/contract/tool.ts";
import { Fault } from "../../src/engine/fault.ts";
import { fixture, fixtureOptions } from "../mcp/fixture.ts";
import { as, byName } from "./callers.ts";
import { serveFixture } from "./fixture-http.ts";
import { initialize, legacy, modern, send } from "./wire.ts";

const none = { type: "object", properties: {} } as const;

/** A tool that runs until it is stopped, and reports how it ended. */
function hanging() {
  const seen = { started: 0, stopped: 0 };
  const one = tool({
    name: "wait",
    title: "Wait",
    description: "Runs until it is stopped, or let go.",
    input: none,
    effect: "reads",
    run: async (_, { signal }) => {
      seen.started++;
      await new Promise<void>(resolve => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve());
      });
      seen.stopped++;
      throw new Fault("cancelled", {});
    },
  });
  return { seen, dialect: { ...fixture, tools: [...fixture.tools, one] } };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
  expect(condition()).toBe(true);
}

const call = (name: string, args = {}) => ({ name, arguments: args });

describe("an error", () => {
  const codes = [-32001, -32002, -32042, -32603, 7];
  const tools = codes.map(code =>
    tool({
      name: `code${Math.abs(code)}`,
      title: "Fail",
      description: "Fails with a code.",
      input: none,
      effect: "reads",
      run: () => {
        throw new Fault("internal", { message: String(code) });
      },
    }),
  );
  const dialect = {
    ...fixture,
    tools,
    failure: ({ data }: Fault) => {
      const code = Number((data as { message: string }).message);
      return { error: { code, message: `code ${code}`, data: { code } } };
    },
  };

  it.each(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])(
    "arrives with the code that the contract promises, in %s",
    async revision => {
      const { url } = await serveFixture({ dialects: { fixture: async () => dialect } });
      const session = await initialize(`${url}/mcp`, {}, revision);
      for (const code of codes) {
        const params = call(`code${Math.abs(code)}`);
        const { message } = await legacy(`${url}/mcp`, { id: 1, method: "tools/call", params }, session);
        expect(message.error).toEqual({ code, message: `code ${code}`, data: { code } });
      }
    },
  );

  it("arrives with the same code in 2026-07-28, and in 2025 without sessions", async () => {
    const { url } = await serveFixture({ dialects: { fixture: async () => dialect }, stateless: true });
    for (const code of codes) {
      const params = call(`code${Math.abs(code)}`);
      const alone = await legacy(`${url}/mcp`, { id: 1, method: "tools/call", params });
      expect(alone.message.error?.code).toBe(code);
      expect((await modern(`${url}/mcp`, "tools/call", params)).message.error?.code).toBe(code);
    }
  });
});

describe("a client that goes away", () => {
  it("stops its call, in both eras and without a session", async () => {
    const { seen, dialect } = hanging();
    for (const [stateless, start] of [
      [false, (url: string, signal: AbortSignal) => modern(url, "tools/call", call("wait"), {}, signal)],
      [
        false,
        async (url: string, signal: AbortSignal) => {
          const session = await initialize(url);
          return legacy(url, { id: 5, method: "tools/call", params: call("wait") }, session, signal);
        },
      ],
      [
        true,
        (url: string, signal: AbortSignal) =>
          legacy(url, { id: 5, method: "tools/call", params: call("wait") }, {}, signal),
      ],
    ] as const) {
      const { url } = await serveFixture({ dialects: { fixture: async () => dialect }, stateless });
      const { started } = seen;
      const leave = new AbortController();
      const answer = start(`${url}/mcp`, leave.signal).catch(() => "left");
      await until(() => seen.started === started + 1);
      leave.abort();
      expect(await answer).toBe("left");
      await until(() => seen.stopped === seen.started);
    }
  });

  it("does not take the calls of another with it, nor later ones of its own session", async () => {
    const { seen, dialect } = hanging();
    const { url } = await serveFixture({ dialects: { fixture: async () => dialect } });
    const session = await initialize(`${url}/mcp`);
    const leave = new AbortController();
    const message = { id: 1, method: "tools/call", params: call("wait") };
    const answer = legacy(`${url}/mcp`, message, session, leave.signal).catch(() => "left");
    await until(() => seen.started === 1);
    const slow = { id: 2, method: "tools/call", params: call("slow", { steps: 20, ms: 10 }) };
    const other = legacy(`${url}/mcp`, slow, session);
    leave.abort();
    expect(await answer).toBe("left");
    expect((await other).body).toContain("counted to 20");
    const again = { id: 1, method: "tools/call", params: call("echo", { text: "again" }) };
    expect((await legacy(`${url}/mcp`, again, session)).body).toContain("again");
  });

  it("that disconnects before its tools are loaded starts nothing, and is not counted", async () => {
    const { seen, dialect } = hanging();
    let load = () => {};
    const loaded = new Promise<void>(resolve => {
      load = resolve;
    });
    const { url } = await serveFixture({ dialects: { fixture: () => loaded.then(() => dialect) } });
    const leave = new AbortController();
    const left = Array.from({ length: 5 }, () =>
      modern(`${url}/mcp`, "tools/call", call("wait"), {}, leave.signal).catch(() => "left"),
    );
    await sleep(100);
    leave.abort();
    expect(await Promise.all(left)).toEqual(left.map(() => "left"));
    await sleep(100);
    load();
    expect((await modern(`${url}/mcp`, "tools/call", call("echo", { text: "here" }))).body).toContain("here");
    const open = async () => (await send(`${url}/metrics`)).body.includes("\npolyfs_requests_open 0\n");
    await expect.poll(open).toBe(true);
    expect(seen).toEqual({ started: 0, stopped: 0 });
  });

  it("that cancels by a notification gets no answer, and its stream ends when it leaves", async () => {
    const { seen, dialect } = hanging();
    const { url } = await serveFixture({ dialects: { fixture: async () => dialect } });
    const session = await initialize(`${url}/mcp`);
    const leave = new AbortController();
    const message = { id: 9, method: "tools/call", params: call("wait") };
    void legacy(`${url}/mcp`, message, session, leave.signal).catch(() => {});
    await until(() => seen.started === 1);
    const params = { requestId: 9, reason: "enough" };
    await legacy(`${url}/mcp`, { method: "notifications/cancelled", params }, session);
    await until(() => seen.stopped === 1);
    leave.abort();
  });
});

describe("turns", () => {
  it("a caller with a hundred stuck calls does not make another wait", async () => {
    const { seen, dialect } = hanging();
    const { url } = await serveFixture({
      dialects: { fixture: async () => dialect },
      access: byName(fixtureOptions.engine.workspace),
      authenticated: true,
    });
    const leave = new AbortController();
    const stuck = Array.from({ length: 100 }, () =>
      modern(`${url}/mcp`, "tools/call", call("wait"), as("ann"), leave.signal).catch(() => "left"),
    );
    await until(() => seen.started === 4);
    for (let n = 0; n < 20; n++) {
      const echo = await modern(`${url}/mcp`, "tools/call", call("echo", { text: "quick" }), as("bob"));
      expect(echo.body).toContain("quick");
    }
    const metrics = await send(`${url}/metrics`, { headers: as("bob") });
    expect(metrics.body).toMatch(/^polyfs_calls_running 4$/m);
    expect(metrics.body).toMatch(/^polyfs_calls_waiting 96$/m);
    leave.abort();
    await Promise.all(stuck);
    await until(() => seen.stopped === seen.started);
    // Those that waited never ran.
    expect(seen.started).toBe(4);
  });

  it("a caller with too many requests gets 429 and a time to retry", async () => {
    const { seen, dialect } = hanging();
    const { url } = await serveFixture({
      dialects: { fixture: async () => dialect },
      access: byName(fixtureOptions.engine.workspace),
      authenticated: true,
    });
    const leave = new AbortController();
    const statuses: number[] = [];
    const all = Array.from({ length: 260 }, () =>
      modern(`${url}/mcp`, "tools/call", call("wait"), as("ann"), leave.signal).then(
        ({ status }) => statuses.push(status),
        () => {},
      ),
    );
    await until(() => statuses.length === 4);
    expect(statuses).toEqual([429, 429, 429, 429]);
    leave.abort();
    await Promise.all(all);
    await until(() => seen.stopped === seen.started);
  });
});

describe("a server that is to end", () => {
  it("finishes running calls, accepts no new ones, and ends open streams", async () => {
    const service = await serveFixture();
    const { url } = service;
    const session = await initialize(`${url}/mcp`);
    const stream = send(`${url}/mcp`, { headers: { ...session, accept: "text/event-stream" } });
    const slow = modern(`${url}/mcp`, "tools/call", call("slow", { steps: 100, ms: 10 }));
    const open = async () => /^polyfs_requests_open (\d+)$/m.exec((await send(`${url}/metrics`)).body)?.[1];
    await expect.poll(open).toBe("2");
    const ended = service.close();
    expect((await slow).body).toContain("counted to 100");
    expect((await stream).status).toBe(200);
    await ended;
    await expect(modern(`${url}/mcp`, "tools/list")).rejects.toThrow();
  });

  it("stops calls that do not finish, and all at once on a second signal", async () => {
    const { seen, dialect } = hanging();
    const service = await serveFixture({ dialects: { fixture: async () => dialect }, graceMs: 600_000 });
    const stuck = modern(`${service.url}/mcp`, "tools/call", call("wait")).catch(() => "cut off");
    await until(() => seen.started === 1);
    void service.close();
    await service.close();
    await stuck;
    expect(seen.stopped).toBe(1);
  });
});

describe("answers", () => {
  it("of fifty clients with a thousand calls are never mixed up", async () => {
    const { url } = await serveFixture();
    await Promise.all(
      Array.from({ length: 50 }, async (_, client) => {
        const session = client % 2 === 0 ? await initialize(`${url}/mcp`) : undefined;
        for (let n = 0; n < 20; n++) {
          const params = call("echo", { text: `client ${client} call ${n}` });
          const { message } =
            session === undefined
              ? await modern(`${url}/mcp`, "tools/call", params)
              : await legacy(`${url}/mcp`, { id: 1, method: "tools/call", params }, session);
          expect(message.result?.content).toEqual([{ type: "text", text: `client ${client} call ${n}` }]);
        }
      }),
    );
  });

  it("of contracts that the SDK does not know arrive unchanged", async () => {
    const odd = tool({
      name: "odd",
      title: "Odd",
      description: "Answers with content of a type of its own.",
      input: none,
      effect: "reads",
      run: () => ({ content: [{ type: "blob", data: "AAAA", mimeType: "x/y" }], meta: { "a/b": 1 } }),
    });
    const dialect = { ...fixture, tools: [odd] };
    const { url } = await serveFixture({ dialects: { fixture: async () => dialect } });
    const session = await initialize(`${url}/mcp`, {}, "2025-03-26");
    const { message } = await legacy(
      `${url}/mcp`,
      { id: 1, method: "tools/call", params: call("odd") },
      session,
    );
    expect(message.result).toEqual({
      content: [{ type: "blob", data: "AAAA", mimeType: "x/y" }],
      _meta: { "a/b": 1 },
    });
  });

  it("that are large arrive whole", async () => {
    const { url } = await serveFixture();
    const { body } = await modern(
      `${url}/mcp`,
      "tools/call",
      call("big", { characters: 5_000_000, of: "ü" }),
    );
    expect(body.match(/ü/g)?.length).toBe(5_000_000);
  });

  it("that take long become a stream with keep-alives, in both eras", async () => {
    const { url } = await serveFixture({ keepAliveMs: 20 });
    const params = call("slow", { steps: 4, ms: 100 });
    const alone = await modern(`${url}/mcp`, "tools/call", params);
    const session = await initialize(`${url}/mcp`);
    const kept = await legacy(`${url}/mcp`, { id: 1, method: "tools/call", params }, session);
    for (const { headers, body, message } of [alone, kept]) {
      expect(headers["content-type"]).toBe("text/event-stream");
      expect(body).toMatch(/^: keepalive\n\n/);
      expect(message.result?.content).toEqual([{ type: "text", text: "counted to 4" }]);
    }
    // A client that takes no stream waits.
    const plain = await modern(`${url}/mcp`, "tools/call", params, { accept: "application/json" });
    expect(plain.headers["content-type"]).toBe("application/json");
    expect(plain.message.result?.content).toEqual([{ type: "text", text: "counted to 4" }]);
  });
});

describe("a session", () => {
  it("that is idle ends after a while; one with a listener does not", async () => {
    const { url } = await serveFixture({ idleMs: 500, keepAliveMs: 20 });
    const leave = new AbortController();
    const listen = async () => {
      for (;;) {
        const session = await initialize(`${url}/mcp`);
        const headers = { ...session, accept: "text/event-stream" };
        const stream = await fetch(`${url}/mcp`, { headers, signal: leave.signal });
        if (stream.status === 200) return [session, stream] as const;
        expect(stream.status).toBe(404); // a busy machine: it had been idle for too long before we came
      }
    };
    const [idle, [busy, stream]] = await Promise.all([initialize(`${url}/mcp`), listen()]);
    const sessions = async () => /^polyfs_sessions (\d+)$/m.exec((await send(`${url}/metrics`)).body)?.[1];
    await expect.poll(sessions).toBe("1");
    const list = { id: 1, method: "tools/list" };
    expect((await legacy(`${url}/mcp`, list, idle)).status).toBe(404);
    expect((await legacy(`${url}/mcp`, list, busy)).status).toBe(200);
    leave.abort();
    await expect(stream.text()).rejects.toThrow();
  });
});
