// What serves a program's tree: one server with two connections over HTTP, a second server of the same dialect, and
// servers of other dialects, all on one directory and one history.
import { type Client, call } from "../client/client.ts";
import { HttpClient, HttpServer } from "../client/http-client.ts";
import { StdioClient } from "../client/stdio-client.ts";
import { operationsByDialect } from "./operations-by-dialect.ts";

export class Servers {
  readonly root: string;
  /** All speak our own dialect. */
  readonly own: readonly Client[];
  readonly others: ReadonlyMap<string, Client>;
  readonly #http: HttpServer;

  private constructor(
    root: string,
    http: HttpServer,
    own: readonly Client[],
    others: ReadonlyMap<string, Client>,
  ) {
    this.root = root;
    this.#http = http;
    this.own = own;
    this.others = others;
  }

  static async start(root: string, state: string): Promise<Servers> {
    const http = new HttpServer(root, state);
    const own = await Promise.all([
      HttpClient.open(http, "polyfs"),
      StdioClient.start({ dialect: "polyfs", root, state }),
      HttpClient.open(http, "polyfs"),
    ]);
    const others = new Map<string, Client>();
    for (const dialect of Object.keys(operationsByDialect)) {
      const client = await StdioClient.start({ dialect, root, state });
      if (dialect === "file-editor") await call(client, "set_workspace", { path: root });
      others.set(dialect, client);
    }
    return new Servers(root, http, own, others);
  }

  async close(): Promise<void> {
    await Promise.all([...this.own, ...this.others.values()].map(client => client.close()));
    await this.#http.close();
  }
}
