// Notifies subscribers about changed resources: in the legacy era by `resources/subscribe`, while the connection
// lasts; in the modern one by `subscriptions/listen`, a request that stays open and is answered when it ends.
import type { Session, Slot } from "../contract/session.ts";
import { Watch } from "../engine/workspace/watch.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { InvalidParams, isRecord, RpcError } from "./jsonrpc.ts";
import type { Caller, Method, ServerOptions } from "./method.ts";
import { pathOf } from "./resources.ts";

const most = 1000;
const subscriptionKey = "io.modelcontextprotocol/subscriptionId";

const legacy: Slot<Watch | undefined> = { initial: () => undefined, end: watch => watch?.[Symbol.dispose]() };

export function subscriptionMethods({ engine }: ServerOptions) {
  return {
    "resources/subscribe": {
      era: "legacy",
      run({ uri }, { session, notify, workspace = engine.workspace }) {
        const path = pathOf(uri, workspace);
        const watch = watchOf(session, workspace, notify);
        if (watch.size >= most) throw tooMany();
        watch.add(String(uri), path);
        return { result: {} };
      },
    },
    "resources/unsubscribe": {
      era: "legacy",
      run({ uri }, { session }) {
        session.get(legacy)?.delete(String(uri));
        return { result: {} };
      },
    },
    "subscriptions/listen": {
      era: "modern",
      async run({ notifications }, caller) {
        const { signal, workspace = engine.workspace } = caller;
        const uris = subscribed(notifications);
        const meta = { [subscriptionKey]: caller.id === undefined ? "" : JSON.parse(caller.id) };
        const tell = (method: string, params: object) => caller.notify(method, { ...params, _meta: meta });
        using watch = new Watch(workspace, uri => tell("notifications/resources/updated", { uri }));
        for (const uri of uris) watch.add(uri, pathOf(uri, workspace));
        const honoured = uris.length > 0 ? { resourceSubscriptions: uris } : {};
        tell("notifications/subscriptions/acknowledged", { notifications: honoured });
        if (!signal.aborted)
          await new Promise(resolve => signal.addEventListener("abort", resolve, { once: true }));
        return { result: { _meta: meta } };
      },
    },
  } satisfies Record<string, Method>;
}

function watchOf(session: Session, workspace: Workspace, notify: Caller["notify"]): Watch {
  const known = session.get(legacy);
  if (known !== undefined) return known;
  const watch = new Watch(workspace, uri => notify("notifications/resources/updated", { uri }));
  session.set(legacy, watch);
  return watch;
}

function subscribed(filter: unknown): string[] {
  if (!isRecord(filter)) throw new RpcError(InvalidParams, "Invalid params: notifications is required");
  const { resourceSubscriptions: uris = [] } = filter;
  if (!Array.isArray(uris) || !uris.every(uri => typeof uri === "string"))
    throw new RpcError(InvalidParams, "Invalid params: resourceSubscriptions must be a list of URIs");
  if (uris.length > most) throw tooMany();
  return uris;
}

function tooMany(): RpcError {
  return new RpcError(InvalidParams, `Invalid params: more than ${most} subscriptions`);
}
