// The network between a replica and the database: a TCP proxy that can be cut. While it is cut, every packet is lost:
// connections stay open and nothing arrives, until it is restored.
import { connect, createServer, type Server, type Socket } from "node:net";

export class Cable implements AsyncDisposable {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [near: Socket, far: Socket]>();
  #isCut = false;

  private constructor(host: string, port: number) {
    this.#server = createServer(near => {
      const far = connect(port, host);
      const pair = [near, far] as const;
      this.#pairs.add(pair);
      const end = () => {
        this.#pairs.delete(pair);
        for (const socket of pair) socket.destroy();
      };
      for (const [from, to] of [pair, [far, near] as const]) {
        from.on("data", chunk => {
          if (!to.write(chunk)) from.pause();
        });
        to.on("drain", () => {
          if (!this.#isCut) from.resume();
        });
        from.on("error", end);
        from.on("close", end);
      }
      if (this.#isCut) for (const socket of pair) socket.pause();
    });
  }

  /** Returns the address to use instead of the database's. */
  static async lay(url: string): Promise<{ readonly cable: Cable; readonly url: string }> {
    const address = new URL(url);
    const cable = new Cable(address.hostname, Number(address.port));
    await new Promise<void>(resolve => cable.#server.listen(0, "127.0.0.1", resolve));
    address.port = String((cable.#server.address() as { port: number }).port);
    return { cable, url: address.href };
  }

  cut(): void {
    this.#isCut = true;
    for (const socket of [...this.#pairs].flat()) socket.pause();
  }

  heal(): void {
    this.#isCut = false;
    for (const socket of [...this.#pairs].flat()) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of [...this.#pairs].flat()) socket.destroy();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
