// A minimal MCP client: requests over two streams, tool calls as text.

const patienceMs = 60_000;

/** @param {{ input: NodeJS.WritableStream, output: NodeJS.ReadableStream, end: () => Promise<void> }} server */
export function client({ input, output, end }) {
  const waiting = new Map();
  let text = "";
  let last = 0;
  output.setEncoding("utf8");
  output.on("data", chunk => {
    text += chunk;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n")) {
      const message = JSON.parse(text.slice(0, at));
      text = text.slice(at + 1);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const request = (method, params = {}) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      const timer = setTimeout(() => reject(new Error(`no answer to ${method}`)), patienceMs);
      waiting.set(id, message => {
        clearTimeout(timer);
        resolve(message);
      });
      input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  return {
    request,
    end,
    async start() {
      const clientInfo = { name: "platforms", version: "1" };
      await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
    },
    /** What a tool answers; refusals begin with their code. */
    async call(name, args) {
      const { result, error } = await request("tools/call", { name, arguments: args });
      return error?.message ?? result.content.map(item => item.text).join("\n");
    },
  };
}
