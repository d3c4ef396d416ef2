// `tools/list` and `tools/call`: the dialect's table on the wire. The list is built and encoded once for each set
// of offered tools; a call is the contract's `call()` and its outcome in the protocol's shape.
import { advertisedName, call, offeredTools } from "../contract/call.ts";
import type { Content, Reply, Tool } from "../contract/tool.ts";
import { beginning } from "../host/masked-tokens.ts";
import { Asking } from "./approval.ts";
import { pageUri, rendersPages } from "./apps.ts";
import { InvalidParams, isRecord, RpcError } from "./jsonrpc.ts";
import type { Caller, Method, MethodAnswer, MethodResult, ServerOptions } from "./method.ts";
import { progressTo } from "./progress.ts";
import { namedPaths } from "./recorded-call.ts";
import { metaOf, type ProtocolRevision } from "./revision.ts";
import { ToolCall } from "./tool-call.ts";

/** The list does not change while a process serves; clients ask again now and then, in case of another process. */
const listTtlMs = 300_000;

export function toolMethods(options: ServerOptions): Record<"tools/list" | "tools/call", Method> {
  const { dialect, engine, settings, activity } = options;
  const { prefix = "" } = dialect;
  const effects = new Map(
    dialect.tools.flatMap(({ name, effect }) => [name, prefix + name].map(one => [one, effect] as const)),
  );
  const lists = new Map<string, MethodAnswer>();
  return {
    "tools/list": {
      ttlMs: dialect.offers === undefined ? listTtlMs : 0,
      run({ cursor }, caller) {
        const { workspace = engine.workspace } = caller;
        // The list is one page, so no cursor was ever given out.
        if (cursor !== undefined && cursor !== null)
          throw new RpcError(InvalidParams, "Invalid params: unknown cursor");
        const tools = offeredTools(dialect, { workspace, settings });
        // A page is read as a resource, so it is named only where there are resources.
        const withPages = dialect.resources === true && rendersPages(caller);
        const key = `${withPages ? "pages" : ""}\n${namesOf(tools)}`;
        let list = lists.get(key);
        if (list === undefined) {
          const plain = settings.structured ? tools : tools.map(tool => ({ ...tool, output: undefined }));
          const result = {
            tools: plain.map(tool => listed(tool, advertisedName(dialect, tool, settings), { withPages })),
          };
          list = { result, json: JSON.stringify(result) };
          lists.set(key, list);
        }
        return list;
      },
    },
    "tools/call": {
      async run(params, caller) {
        const { name } = params;
        if (typeof name !== "string")
          throw new RpcError(InvalidParams, "Invalid params: name must be a string");
        caller.effect = effects.get(name);
        const asking = new Asking(caller, params, options);
        const seen = activity?.begin(aboutCall(options, name, params.arguments, caller));
        let isFailed = true;
        const progress = progressTo(metaOf(params)?.progressToken, caller.notify);
        try {
          const outcome = await call(
            dialect,
            name,
            params.arguments,
            new ToolCall(options, caller, progress, asking, params),
          );
          if (asking.wanted !== undefined) return { result: asking.wanted };
          if (!("error" in outcome)) {
            isFailed = outcome.isError === true;
            const reply = settings.structured ? outcome : { ...outcome, structured: undefined };
            return { result: wireResult(reply, caller.revision) };
          }
          const { code, message, data } = outcome.error;
          throw new RpcError(code, message, data);
        } finally {
          progress.end();
          if (seen !== undefined) activity?.end(seen, isFailed, caller.fault);
        }
      },
    },
  };
}

/** What a review page shows of a call: never contents. */
function aboutCall({ dialect, engine }: ServerOptions, name: string, given: unknown, caller: Caller) {
  const prefix = dialect.prefix ?? "";
  const bare = name.startsWith(prefix) ? name.slice(prefix.length) : name;
  const { paths = [], effect = "reads" } = dialect.tools.find(tool => tool.name === bare) ?? {};
  return {
    tool: beginning(bare, 100),
    effect,
    paths: isRecord(given) ? namedPaths(given, paths) : [],
    session: caller.session,
    workspace: caller.workspace ?? engine.workspace,
  };
}

/** A tool as `tools/list` shows it. */
export function listed(tool: Tool, name: string, { withPages = false } = {}): MethodResult {
  const { title, description, input, output, effect, page } = tool;
  const shown = withPages && page !== undefined ? { ui: { resourceUri: pageUri(page) } } : undefined;
  const reads = effect === "reads";
  return {
    name,
    title,
    description,
    inputSchema: input,
    ...(output === undefined ? {} : { outputSchema: output }),
    annotations: {
      readOnlyHint: reads,
      destructiveHint: !reads && (tool.destructive ?? true),
      idempotentHint: tool.idempotent ?? reads,
      openWorldHint: effect === "runs",
    },
    ...(tool.meta === undefined && shown === undefined ? {} : { _meta: { ...tool.meta, ...shown } }),
  };
}

export function namesOf(tools: readonly Tool[]): string {
  return tools.map(({ name }) => name).join("\n");
}

/** A reply as `tools/call` answers it. */
export function wireResult(
  { content, structured, isError, meta }: Reply,
  revision: ProtocolRevision,
): MethodResult {
  return {
    content: revision === "2024-11-05" ? content.map(withoutAudio) : content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isError === undefined ? {} : { isError }),
    ...(meta === undefined ? {} : { _meta: meta }),
  };
}

/** The first revision has no audio, and its clients refuse a result with an item of an unknown type. */
function withoutAudio(item: Content, index: number): Content {
  if (item.type !== "audio") return item;
  return {
    type: "resource",
    resource: { uri: `content:${index}`, mimeType: item.mimeType, blob: item.data },
  };
}
