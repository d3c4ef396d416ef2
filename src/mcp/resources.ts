// Files as resources, for clients whose users pick them: the roots in a list, everything else by a template with
// completion. Which files may be reached is the workspace's business, as it is for tools.
import { pathToFileURL } from "node:url";
import { printable, say, type Wording } from "../contract/wording.ts";
import { Fault } from "../engine/fault.ts";
import { isNoText } from "../engine/text/detect.ts";
import { shown } from "../engine/text/escape.ts";
import { mimeType } from "../engine/text/mime.ts";
import { decode } from "../engine/text/text.ts";
import type { WorkspacePath } from "../engine/workspace/path.ts";
import { onWindows, ownForm } from "../engine/workspace/windows-path.ts";
import type { Workspace } from "../engine/workspace/workspace.ts";
import { pageContent, pageUri } from "./apps.ts";
import { InvalidParams, isRecord, RpcError } from "./jsonrpc.ts";
import type { Caller, Method, MethodResult, Params, ServerOptions } from "./method.ts";
import { eraOf, type ProtocolRevision } from "./revision.ts";

const template = "file:///{+path}";
const directoryType = "inode/directory";
const maxEntries = 10_000;
const maxCompletions = 100;
const ResourceNotFound = -32002;

export function resourceMethods({ engine, settings, dialect }: ServerOptions) {
  return {
    "resources/list": {
      ttlMs: 0,
      run: (_, { workspace = engine.workspace }) => ({
        result: { resources: workspace.roots.map(rootResource) },
      }),
    },
    "resources/templates/list": {
      ttlMs: 0,
      run: () => ({
        result: {
          resourceTemplates: [
            {
              uriTemplate: template,
              name: "file",
              title: "File",
              description: "A file or directory in a root",
            },
          ],
        },
      }),
    },
    "resources/read": {
      ttlMs: 0,
      async run({ uri }, { workspace = engine.workspace, revision }) {
        const page = dialect.tools.find(tool => tool.page !== undefined && pageUri(tool.page) === uri);
        if (page !== undefined) {
          const content = await pageContent(String(uri));
          if (content !== undefined) return { result: { contents: [content] } };
        }
        const path = pathOf(uri, workspace);
        try {
          const wasStale = workspace.replication?.staleMs;
          await workspace.replication?.refresh("reads");
          const staleMs = workspace.replication?.staleMs ?? wasStale;
          const contents = [await contentOf(String(uri), path, workspace, settings.maxFileBytes)];
          return {
            result: {
              contents,
              ...(staleMs !== undefined && { _meta: { "polyfs/staleMs": Math.round(staleMs) } }),
            },
          };
        } catch (error) {
          throw resourceError(error, String(uri), revision, dialect.wording);
        }
      },
    },
    "completion/complete": {
      run: (params, caller) => ({
        result: { completion: completed(params, caller.workspace ?? engine.workspace, caller) },
      }),
    },
  } satisfies Record<string, Method>;
}

/** The path that a resource's URI means. */
export function pathOf(uri: unknown, workspace: Workspace): WorkspacePath {
  if (typeof uri !== "string") throw new RpcError(InvalidParams, "Invalid params: uri must be a string");
  try {
    if (!/^file:\/\//i.test(uri)) throw new Fault("outside_roots", { path: uri });
    return workspace.at(uri, { uris: true });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw new RpcError(
      InvalidParams,
      "Invalid params: uri is not a file:// URI in a root",
      { uri },
      { cause: error },
    );
  }
}

function rootResource({ path, access }: Workspace["roots"][number]): MethodResult {
  const name = path.slice(path.lastIndexOf("/") + 1) || path;
  return { uri: pathToFileURL(path).href, name, description: `A root (${access})`, mimeType: directoryType };
}

async function contentOf(
  uri: string,
  path: WorkspacePath,
  workspace: Workspace,
  limit: number,
): Promise<MethodResult> {
  if (workspace.stat(path).kind === "directory") {
    using directory = workspace.directory(path);
    const entries = directory.entries().slice(0, maxEntries);
    const names = entries.map(({ name, kind }) => (kind === "directory" ? `${name}/` : name));
    return { uri, mimeType: directoryType, text: names.sort().map(printable).join("\n") };
  }
  using file = await workspace.openFile(path);
  const bytes = await file.bytes(limit);
  const named = mimeType(file.path);
  if (isNoText(bytes))
    return { uri, mimeType: named ?? "application/octet-stream", blob: bytes.toString("base64") };
  const { raw } = await decode(path.given, bytes, { legacy: true });
  return { uri, mimeType: named ?? "text/plain", text: shown(raw) };
}

/** A missing resource has its own code in the legacy era. */
function resourceError(error: unknown, uri: string, revision: ProtocolRevision, wording: Wording): unknown {
  if (!(error instanceof Fault)) return error;
  const missing = Fault.is(error, "not_found") || Fault.is(error, "outside_roots");
  const code = missing && eraOf(revision) === "legacy" ? ResourceNotFound : InvalidParams;
  return new RpcError(code, say(wording, error).split("\n")[0] ?? "", { uri }, { cause: error });
}

/** Names that begin as the caller's last one does, as values of the template's `path`. */
function completed(
  { ref, argument }: Params,
  workspace: Workspace,
  caller: Pick<Caller, "fault">,
): MethodResult {
  const nothing = { values: [], total: 0, hasMore: false };
  if (!isRecord(ref) || !isRecord(argument) || typeof argument.value !== "string")
    throw new RpcError(InvalidParams, "Invalid params: ref and argument are required");
  if (ref.type !== "ref/resource" || argument.name !== "path") return nothing;
  // Values follow `file:///`: on Windows they begin with the drive, elsewhere after the first slash.
  const values = onWindows
    ? beginningWith(ownForm(argument.value), workspace, caller).sort()
    : beginningWith(`/${argument.value}`, workspace, caller)
        .map(path => path.slice(1))
        .sort();
  const { length } = values;
  return { values: values.slice(0, maxCompletions), total: length, hasMore: length > maxCompletions };
}

function beginningWith(start: string, workspace: Workspace, caller: Pick<Caller, "fault">): string[] {
  const found = workspace.roots
    .map(({ path }) => (path.endsWith("/") ? path : `${path}/`))
    .filter(root => root.startsWith(start));
  const slash = start.lastIndexOf("/");
  try {
    using directory = workspace.directory(workspace.at(start.slice(0, slash) || "/"));
    for (const { name, kind } of directory.entries().slice(0, maxEntries)) {
      const path = `${start.slice(0, slash)}/${name}`;
      if (path.startsWith(start)) found.push(kind === "directory" ? `${path}/` : path);
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    // Outside, or not there: nothing to offer, and the record says why. On the way to a root, that is offered.
    if (found.length === 0) caller.fault = error.code;
  }
  return found;
}
