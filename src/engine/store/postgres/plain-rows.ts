// A query whose rows are returned as the server writes them: each column as text. The server does not describe the
// columns, and no row is made into an object, which is half of the cost of a query in this process.
import type { Connection, Submittable } from "pg";

export type PlainRow = readonly (string | null)[];

/** What pg calls on a question that it has sent, and how it gets hold of the answer. */
export class PlainRows implements Submittable {
  readonly text: string;
  readonly name: string;
  readonly #values: readonly string[];
  readonly #rows: PlainRow[] = [];
  /** Set by pg. */
  callback: ((error: Error | null, rows?: readonly PlainRow[]) => void) | undefined;

  /** Without a name the statement is parsed each time. */
  constructor(text: string, values: readonly string[], name = "") {
    this.text = text;
    this.name = name;
    this.#values = values;
  }

  /** Everything goes in one packet. */
  submit(connection: Connection): void {
    const { text, name } = this;
    const { parsedStatements } = connection as unknown as { parsedStatements: Record<string, string> };
    connection.stream.cork();
    if (name === "" || parsedStatements[name] === undefined)
      connection.parse({ text, name, types: [] }, true);
    connection.bind({ portal: "", statement: name, values: [...this.#values] }, true);
    connection.execute({ portal: "", rows: "" }, true);
    connection.sync();
    connection.stream.uncork();
  }

  handleDataRow({ fields }: { readonly fields: PlainRow }): void {
    this.#rows.push(fields);
  }

  handleReadyForQuery(): void {
    this.callback?.(null, this.#rows);
  }

  handleError(error: Error): void {
    this.callback?.(error);
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}
