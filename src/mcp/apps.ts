// MCP Apps (extension io.modelcontextprotocol/ui): the review page inside clients that render pages. A tool names the
// page in its `_meta` for clients that say they can show it, and for no other: the list costs others nothing.
import { readPageFile } from "../host/page-files.ts";
import { isRecord } from "./jsonrpc.ts";
import type { Caller, MethodResult } from "./method.ts";

const extension = "io.modelcontextprotocol/ui";
const mimeType = "text/html;profile=mcp-app";

/** The address of a page, as tools name it. */
export function pageUri(page: string): string {
  return `ui://polyfs/${page}`;
}

/** Whether the client renders pages of our kind. */
export function rendersPages({ capabilities }: Pick<Caller, "capabilities">): boolean {
  const extensions = capabilities?.extensions;
  const settings = isRecord(extensions) ? extensions[extension] : undefined;
  return isRecord(settings) && Array.isArray(settings.mimeTypes) && settings.mimeTypes.includes(mimeType);
}

/** The page as a resource: one HTML file that asks for nothing else. Undefined if the build has none. */
export async function pageContent(uri: string): Promise<MethodResult | undefined> {
  const text = (await readPageFile("app.html"))?.toString("utf8");
  return text === undefined ? undefined : { uri, mimeType, text, _meta: { ui: { prefersBorder: true } } };
}
