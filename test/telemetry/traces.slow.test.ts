// Traces and metrics as a collector gets them: the program is started as users start it, on stdio and over HTTP, and
// spoken to in both eras of the protocol.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { tree } from "../http/fixture.ts";
import { type Program, startWith } from "../http/started-program.ts";
import { initialize, legacy, modern } from "../http/wire.ts";
import { envelope } from "../mcp/in-process.ts";
import { type ProcessWire, start } from "../mcp/wire.ts";
import { type Collector, collector, type Span } from "./collector.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const parent = "b7ad6b7169203331";
const traceparent = `00-${trace}-${parent}-01`;

/** Words that are in files, in their names and in arguments, and that no collector may see. */
const secrets = ["CANARY-CONTENT", "CANARY-NAME", "CANARY-P", "CANARY-COMMAND"];

function project(): string {
  return tree({ "CANARY-NAME.txt": "CANARY-CONTENT\nCANARY-PATTERN\n", "b.txt": "one\ntwo\nthree\n" });
}

async function onStdio(
  { environment }: Pick<Collector, "environment">,
  root: string,
  ...args: string[]
): Promise<ProcessWire> {
  const env = { POLYFS_STATE_DIR: tree(), ...environment };
  const wire = await start({ dialect: "polyfs", roots: [root], args, env });
  onTestFinished(() => wire.close());
  return wire;
}

const childrenOf = (spans: readonly Span[], { spanId }: Span) =>
  spans.filter(({ parentSpanId }) => parentSpanId === spanId);

/** The names of the spans that came, without those of calls. */
const methodsOf = (spans: readonly Span[]) =>
  spans.map(({ name }) => name).filter(name => !/^(tools\/call|walk)/.test(name));

it("every request is a span, also the handshake and what no method answers", async () => {
  const receiver = await collector();
  const root = project();
  const wire = await onStdio(receiver, root);
  await wire.initialize();
  for (const method of ["ping", "no/such/method", "tools/list"]) await wire.request(method, {});
  await wire.close();
  expect(methodsOf(receiver.spans).sort()).toEqual(["_OTHER", "initialize", "ping", "tools/list"]);

  const overHttp = await collector();
  const { url, signal, ended } = await startWith(overHttp.environment, "--dialect", "polyfs", root);
  const session = await initialize(`${url}/mcp`);
  for (const method of ["ping", "no/such/method", "tools/list"])
    await legacy(`${url}/mcp`, { id: 1, method, params: {} }, session);
  await modern(`${url}/mcp`, "no/such/method", {});
  signal("SIGTERM");
  await ended;
  expect(methodsOf(overHttp.spans).sort()).toEqual([
    "POST refused",
    "_OTHER",
    "initialize",
    "ping",
    "tools/list",
  ]);
});

describe("on stdio", () => {
  it("a call of the modern era is a span in the trace that its _meta names", async () => {
    const receiver = await collector();
    const root = project();
    const wire = await onStdio(receiver, root);
    const token = `pfs_${"0123456789".repeat(4)}`;
    const tracestate = `vendor=1,other=${token},third=https://ann:hunter2@example.org`;
    const meta = envelope({ traceparent, tracestate });
    await wire.call("read_file", { path: "CANARY-NAME.txt" }, meta);
    const span = await receiver.span(({ name }) => name === "tools/call read_file");
    expect(span).toMatchObject({
      traceId: trace,
      parentSpanId: parent,
      traceState: expect.stringMatching(
        /^vendor=1,other=pfs_\*{3}[0-9a-f]{12},third=https:\/\/\*{3}@example\.org$/,
      ),
      kind: 2,
      status: undefined,
      resource: { "service.name": "polyfs" },
      attributes: {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "read_file",
        "gen_ai.operation.name": "execute_tool",
        "mcp.protocol.version": "2026-07-28",
        "network.transport": "pipe",
        "jsonrpc.request.id": "1",
        "polyfs.dialect": "polyfs",
        "polyfs.workspace": [root],
        "polyfs.paths.count": 1,
        "polyfs.policy.decision": "allowed",
      },
    });
    expect(span.end).toBeGreaterThanOrEqual(span.start);
    expect(Math.abs(Number(span.start / 1_000_000n) - Date.now())).toBeLessThan(120_000);
  });

  it("calls of the legacy era have the engine's work as children, and nothing of what is in files", async () => {
    const receiver = await collector();
    const root = project();
    const audit = join(tree(), "audit.log");
    const wire = await onStdio(
      receiver,
      root,
      "--audit",
      audit,
      "--allow-run=unsandboxed",
      "--policy",
      "none",
    );
    await wire.initialize();
    await wire.call("find_files", { pattern: "CANARY*" });
    await wire.call("search_text", { pattern: "CANARY-P.TTERN" }, { traceparent });
    const seen = JSON.stringify(await wire.call("read_file", { path: "b.txt" }));
    const [if_version] = /v:[0-9a-f]{12}/.exec(seen) ?? [];
    writeFileSync(join(root, "b.txt"), "one\ntwo\nthree\nsomebody else\n");
    const edits = [{ old: "one", new: "CANARY-CONTENT" }];
    await wire.call("edit_file", { path: "b.txt", edits, if_version });
    await wire.call("run_command", { command: "echo CANARY-COMMAND" });
    await wire.call("read_file", { path: "CANARY-NAME-not-there" });
    await wire.close();

    const { spans } = receiver;
    const named = (name: string) => spans.filter(span => span.name === name);
    const kinds = (name: string) =>
      new Set(named(name).flatMap(span => childrenOf(spans, span).map(child => child.name)));
    expect(named("initialize")).toHaveLength(1);
    expect(kinds("tools/call find_files")).toContain("walk");
    expect(kinds("tools/call search_text")).toContain("ripgrep");
    expect([...kinds("tools/call edit_file")]).toEqual(expect.arrayContaining(["merge", "commit", "flush"]));
    expect([...kinds("tools/call run_command")]).toEqual(["command"]);
    expect(named("merge")).toMatchObject([{ attributes: { "polyfs.merge": "clean" }, kind: 1 }]);
    expect(named("command")).toMatchObject([{ attributes: { "polyfs.exit_code": 0 } }]);
    const failed = named("tools/call read_file").find(({ status }) => status === 2);
    expect(failed?.attributes).toMatchObject({ "error.type": "tool_error", "polyfs.fault": "not_found" });

    const lines = readFileSync(audit, "utf8")
      .trim()
      .split("\n")
      .map(line => JSON.parse(line));
    const calls = lines.filter(({ event }) => event === "call");
    expect(calls.map(line => line.trace)).toEqual(
      calls.map(({ tool, outcome }) => {
        const status = outcome === "ok" ? undefined : 2;
        return named(`tools/call ${tool}`).find(span => span.status === status)?.traceId;
      }),
    );
    const changes = calls.flatMap(line => line.changes).map(({ id }: { id: string }) => id);
    const [committed] = named("commit").flatMap(({ attributes }) => attributes["polyfs.change.id"]);
    expect(changes).toContain(committed);
    for (const secret of secrets) expect(receiver.bodies.join()).not.toContain(secret);
  });

  it("metrics report how long requests and sessions took, failures separately", async () => {
    const receiver = await collector();
    const wire = await onStdio(receiver, project());
    await wire.initialize();
    await wire.call("list_directory", {});
    await wire.call("list_directory", {});
    await wire.call("list_directory", { path: "nowhere" });
    await wire.request("tools/call", { name: "invented-by-the-caller", arguments: {} });
    await wire.close();
    const last = new Map(
      receiver.points.map(point => [JSON.stringify([point.metric, point.attributes]), point]),
    );
    const points = [...last.values()];
    const of = (metric: string, attributes: object) =>
      points.filter(
        one => one.metric === metric && Object.entries(attributes).every(([k, v]) => one.attributes[k] === v),
      );
    const listing = { "gen_ai.tool.name": "list_directory", "network.transport": "pipe" };
    const listings = of("mcp.server.operation.duration", listing);
    expect(listings.map(({ count, attributes, unit }) => [count, attributes["error.type"], unit])).toEqual([
      [2, undefined, "s"],
      [1, "tool_error", "s"],
    ]);
    expect(of("mcp.server.session.duration", {})).toMatchObject([{ count: 1, unit: "s" }]);
    expect(JSON.stringify(points)).not.toContain("invented-by-the-caller");
  });

  it("a trace that its client does not sample is not sent, but is in the audit log", async () => {
    const receiver = await collector();
    const audit = join(tree(), "audit.log");
    const wire = await onStdio(receiver, project(), "--audit", audit);
    await wire.initialize();
    await wire.call("list_directory", {}, { traceparent: traceparent.replace(/01$/, "00") });
    await wire.close();
    expect(receiver.spans.map(({ name }) => name)).toEqual(["initialize"]);
    expect(readFileSync(audit, "utf8")).toContain(`"trace":"${trace}"`);
  });

  it("a traceparent that is malformed begins a trace of its own", async () => {
    const receiver = await collector();
    const wire = await onStdio(receiver, project());
    const zeros = "0".repeat(32);
    const malformed = ["", "nonsense", `00-${zeros}-${parent}-01`, `ff-${trace}-${parent}-01`, 7, null];
    for (const one of malformed) await wire.call("list_directory", {}, envelope({ traceparent: one }));
    await wire.close();
    const calls = receiver.spans.filter(({ name }) => name.startsWith("tools/call"));
    expect(new Set(calls.map(({ traceId }) => traceId)).size).toBe(malformed.length);
    for (const { traceId, parentSpanId } of calls) {
      expect(traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
      expect([traceId === trace, parentSpanId]).toEqual([false, undefined]);
    }
  });
});

describe("over HTTP", () => {
  const overHttp = async (receiver: Collector, ...args: string[]): Promise<Program> =>
    await startWith(receiver.environment, ...args);

  it("both eras are traced: by the header of the request, and by _meta, which has precedence", async () => {
    const receiver = await collector();
    const audit = join(tree(), "audit.log");
    const { url, signal, ended } = await overHttp(receiver, "--audit", audit, project());
    const other = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
    const call = { name: "list_directory", arguments: {} };
    const at = `${url}/mcp/polyfs`;
    await modern(at, "tools/call", call, { traceparent });
    await modern(at, "tools/call", { ...call, _meta: { traceparent } }, { traceparent: other });
    const session = await initialize(at);
    const params = { ...call, _meta: { traceparent: other } };
    await legacy(at, { id: 7, method: "tools/call", params }, session);
    signal("SIGTERM");
    await ended;

    const spans = receiver.spans.filter(({ name }) => name === "tools/call list_directory");
    expect(spans).toMatchObject([
      {
        traceId: trace,
        parentSpanId: parent,
        links: [],
        attributes: { "mcp.protocol.version": "2026-07-28" },
      },
      {
        traceId: trace,
        parentSpanId: parent,
        links: [{ traceId: "c".repeat(32), spanId: "d".repeat(16) }],
        attributes: {
          "network.transport": "tcp",
          "network.protocol.name": "http",
          "client.address": "127.0.0.1",
        },
      },
      {
        traceId: "c".repeat(32),
        parentSpanId: "d".repeat(16),
        attributes: { "mcp.protocol.version": "2025-11-25", "jsonrpc.request.id": "7" },
      },
    ]);
    expect(spans[2]?.attributes["mcp.session.id"]).not.toBe(session["mcp-session-id"]);
    expect(receiver.points.map(({ metric }) => metric)).toContain("mcp.server.session.duration");
    const traces = readFileSync(audit, "utf8").match(/(?<="trace":")[0-9a-f]+/g);
    expect(traces).toEqual([trace, trace, "c".repeat(32)]);
  });

  it("refused requests are spans too, in the trace of their header, without the path", async () => {
    const receiver = await collector();
    const { url, signal, ended } = await overHttp(receiver, project());
    const headers = { traceparent, "content-type": "application/json" };
    await fetch(`${url}/CANARY-PATH`, { method: "POST", headers, body: "{}" });
    await fetch(`${url}/mcp`, { method: "POST", headers: { origin: "https://evil.example" } });
    signal("SIGTERM");
    await ended;
    const spans = receiver.spans.filter(({ name }) => name === "POST refused");
    expect(spans).toMatchObject([
      { traceId: trace, parentSpanId: parent, kind: 2, attributes: { "http.response.status_code": 404 } },
      {
        attributes: { "http.response.status_code": 403, "error.type": "403", "client.address": "127.0.0.1" },
      },
    ]);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain("CANARY");
  });
});

describe("the receiver of the spans", () => {
  it("gets headers, compressed data, and the data again after a refusal", async () => {
    const receiver = await collector({ refuse: { times: 2, status: 503 } });
    const environment = {
      ...receiver.environment,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abc, x-team = files",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_SERVICE_NAME: "files",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test",
    };
    const wire = await onStdio({ environment }, project());
    await wire.call("list_directory", {}, envelope());
    const span = await receiver.span(({ name }) => name.startsWith("tools/call"));
    expect(span.resource).toMatchObject({ "service.name": "files", "deployment.environment.name": "test" });
    expect(receiver.headers[0]).toMatchObject({
      authorization: "Bearer abc",
      "x-team": "files",
      "content-encoding": "gzip",
      "content-type": "application/json",
    });
  });

  it("may be unreachable: calls are answered, the server ends, and one line reports it", async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" };
    const wire = await onStdio({ environment }, project());
    for (let i = 0; i < 20; i++) await wire.call("list_directory", {}, envelope());
    await wire.close();
    expect(wire.stderr.match(/telemetry could not be sent/g)).toHaveLength(2); // traces, metrics
    expect(await wire.exited()).toEqual({ code: 0, signal: null });
  });

  it("that cannot be used is reported, and files are served", async () => {
    const environment = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "collector:4318",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "http://127.0.0.1:9",
      OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "grpc",
      OTEL_TRACES_SAMPLER: "sometimes",
      OTEL_BSP_SCHEDULE_DELAY: "soon",
    };
    const wire = await onStdio({ environment }, project());
    await wire.call("list_directory", {}, envelope());
    await wire.close();
    for (const complaint of ["gRPC", "not an http or https URL", "TRACES_SAMPLER", "SCHEDULE_DELAY"])
      expect(wire.stderr).toContain(complaint);
  });

  it.each<Record<string, string>>([
    { OTEL_SDK_DISABLED: "true" },
    { OTEL_TRACES_SAMPLER: "always_off", OTEL_METRICS_EXPORTER: "none" },
  ])("is sent nothing with %j", async off => {
    const receiver = await collector();
    const wire = await onStdio({ environment: { ...receiver.environment, ...off } }, project());
    await wire.call("list_directory", {}, envelope());
    await wire.close();
    expect(receiver.bodies).toEqual([]);
  });

  it("may be an SDK that was loaded before: spans go there, and nowhere else", async () => {
    const receiver = await collector();
    const directory = tree();
    mkdirSync(join(directory, "sdk"));
    const [sdk, record] = [join(directory, "sdk/start.mjs"), join(directory, "spans.log")];
    const api = new URL(import.meta.resolve("@opentelemetry/api")).pathname;
    writeFileSync(
      sdk,
      `import { appendFileSync } from "node:fs";
       import api from ${JSON.stringify(api)};
       const context = { traceId: "${trace}", spanId: "${parent}", traceFlags: 1 };
       const startSpan = name => {
         appendFileSync(${JSON.stringify(record)}, name + "\\n");
         return api.trace.wrapSpanContext(context);
       };
       api.trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) });`,
    );
    const environment = { ...receiver.environment, NODE_OPTIONS: `--import=${sdk}` };
    const wire = await onStdio({ environment }, project());
    await wire.call("list_directory", {}, envelope());
    await wire.close();
    expect(readFileSync(record, "utf8")).toContain("tools/call list_directory");
    expect(receiver.bodies).toEqual([]);
    expect(existsSync(sdk)).toBe(true);
  });
});
