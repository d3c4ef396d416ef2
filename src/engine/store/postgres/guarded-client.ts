// A client whose connection ends when the server sends what is not the protocol. pg reads messages in a listener of the
// socket, where an exception would end the process.
import type { Duplex } from "node:stream";
import type { Client, ClientConfig } from "pg";

interface MessageReader {
  attachListeners(stream: Pick<Duplex, "on">): void;
}

export function guarded(Base: typeof Client): typeof Client {
  return class extends Base {
    constructor(config?: string | ClientConfig) {
      super(config);
      const { connection } = this as unknown as { readonly connection: MessageReader };
      const attach = connection.attachListeners.bind(connection);
      connection.attachListeners = stream => attach(guardedStream(stream as Duplex));
    }
  };
}

function guardedStream(stream: Duplex): Pick<Duplex, "on"> {
  const on = (event: string, listener: (value: unknown) => void) =>
    stream.on(event, (value: unknown) => {
      try {
        listener(value);
      } catch (error) {
        stream.destroy(error instanceof Error ? error : undefined);
      }
    });
  return { on } as Pick<Duplex, "on">;
}
