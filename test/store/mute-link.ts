// The way to a server through a network that forgets connections without telling either end, as a firewall does with
// those that were quiet for long. New connections work.
import { connect, createServer, type Server, type Socket } from "node:net";

export class MuteLink implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;

  private constructor(url: string, server: Server, sockets: Set<Socket>) {
    this.url = url;
    this.#server = server;
    this.#sockets = sockets;
  }

  /** `url` of the result is to be used instead of the server's. */
  static async to(url: string): Promise<MuteLink> {
    const address = new URL(url);
    const [host, port] = [address.hostname, Number(address.port)];
    const sockets = new Set<Socket>();
    const server = createServer(near => {
      const far = connect(port, host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        sockets.add(from);
        from.on("data", chunk => void to.write(chunk));
        from.on("error", () => {});
        from.on("close", () => to.destroy());
      }
    });
    await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
    address.port = String((server.address() as { port: number }).port);
    return new MuteLink(address.href, server, sockets);
  }

  /** From now on nothing passes on the connections that there are. */
  mute(): void {
    for (const socket of this.#sockets) socket.removeAllListeners("data").pause();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(resolve => this.#server.close(resolve));
  }
}
