// Prompts, resources and completion, as the conformance suite looks for them: further rows of the table of
// methods, as our own resources would be.
import { InvalidParams, isRecord, RpcError } from "../../../src/mcp/jsonrpc.ts";
import type { Method, MethodResult, Params } from "../../../src/mcp/method.ts";
import { promptRound } from "./rounds.ts";
import { image } from "./tools.ts";

const user = (content: unknown) => ({ role: "user", content });
const text = (body: string) => ({ type: "text", text: body });
const args = (params: Params): Params => (isRecord(params.arguments) ? params.arguments : {});

const prompts: Readonly<
  Record<string, { readonly args?: readonly string[]; get(given: Params): unknown[] }>
> = {
  test_simple_prompt: { get: () => [user(text("This is a simple prompt for testing."))] },
  test_prompt_with_arguments: {
    args: ["arg1", "arg2"],
    get: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
  },
  test_prompt_with_embedded_resource: {
    args: ["resourceUri"],
    get: ({ resourceUri: uri }) => [
      user({
        type: "resource",
        resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." },
      }),
      user(text("Please process the embedded resource above.")),
    ],
  },
  test_prompt_with_image: { get: () => [user(image), user(text("Please analyze the image above."))] },
  test_input_required_result_prompt: { get: () => [] },
};

const resources = [
  {
    uri: "test://static-text",
    name: "text",
    description: "A text",
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  {
    uri: "test://static-binary",
    name: "binary",
    description: "A picture",
    mimeType: "image/png",
    blob: image.data,
  },
  {
    uri: "test://watched-resource",
    name: "watched",
    description: "A text",
    mimeType: "text/plain",
    text: "watched",
  },
];

function read(uri: unknown): MethodResult {
  const known = resources.find(resource => resource.uri === uri);
  if (known !== undefined) {
    const { name: _, description: __, ...content } = known;
    return { contents: [content] };
  }
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(String(uri)) ?? [];
  if (id === undefined) throw new RpcError(InvalidParams, `Resource not found: ${uri}`, { uri });
  const body = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return { contents: [{ uri, mimeType: "application/json", text: body }] };
}

const answering = (result: MethodResult): Method => ({ run: () => ({ result }) });

export const documents: Readonly<Record<string, Method>> = {
  "prompts/list": {
    ...answering({
      prompts: Object.entries(prompts).map(([name, prompt]) => ({
        name,
        description: name,
        arguments: (prompt.args ?? []).map(arg => ({ name: arg, description: arg, required: true })),
      })),
    }),
    ttlMs: 0,
  },
  "prompts/get": {
    async run(params, caller) {
      const name = String(params.name);
      const prompt = Object.hasOwn(prompts, name) ? prompts[name] : undefined;
      if (prompt === undefined) throw new RpcError(InvalidParams, `Unknown prompt: ${name}`);
      if (name !== "test_input_required_result_prompt")
        return { result: { messages: prompt.get(args(params)) } };
      const round = await promptRound(params, caller);
      if (round.resultType === "input_required") return { result: round };
      return { result: { messages: [user(text("with the context"))] } };
    },
  },
  "resources/list": {
    ...answering({
      resources: resources.map(({ uri, name, description, mimeType }) => ({
        uri,
        name,
        description,
        mimeType,
      })),
    }),
    ttlMs: 0,
  },
  "resources/templates/list": {
    ...answering({
      resourceTemplates: [
        { uriTemplate: "test://template/{id}/data", name: "template", description: "By id" },
      ],
    }),
    ttlMs: 0,
  },
  "resources/read": { run: ({ uri }) => ({ result: read(uri) }), ttlMs: 0 },
  "resources/subscribe": answering({}),
  "resources/unsubscribe": answering({}),
  "completion/complete": answering({ completion: { values: ["paris", "park"], total: 2, hasMore: false } }),
};
