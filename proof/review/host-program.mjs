// Runs in the host's page (embedded.ts): the client's side of MCP Apps, with the page in a sandboxed frame. `ask` hands a
// request to the server.
const frame = document.createElement("iframe");
const waiting = new Map();
const post = message => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");

/** Notifications that the page sent, by name. */
window.told = [];
window.send = (method, params) => post({ method, params });
window.request = (method, params) =>
  new Promise(resolve => {
    const id = `h${waiting.size}`;
    waiting.set(id, resolve);
    post({ id, method, params });
  });

window.show = (html, theme) => {
  frame.title = "app";
  frame.width = "700";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.srcdoc = html;
  addEventListener("message", async ({ source, data: { id, method, params, result } }) => {
    if (source !== frame.contentWindow) return;
    if (method === undefined) return waiting.get(id)?.(result);
    if (id === undefined) return notified(method, params);
    if (method === "ui/initialize") return post({ id, result: initialized(params, theme) });
    const answer = await window.ask(method, params);
    post({ id, ...(answer.error === undefined ? { result: answer.result } : { error: answer.error }) });
  });
  document.body.append(frame);
};

function notified(method, params) {
  window.told.push(method);
  if (method === "ui/notifications/size-changed") frame.height = params.height;
  if (method === "ui/notifications/initialized")
    window.send("ui/notifications/tool-input", { arguments: {} });
}

function initialized({ protocolVersion }, theme) {
  return {
    protocolVersion,
    hostInfo: { name: "host", version: "1" },
    hostCapabilities: { serverTools: {} },
    hostContext: { theme, displayMode: "inline", containerDimensions: { width: 700, maxHeight: 640 } },
  };
}
