// The way to a server, over which so many bytes pass in each direction in a second, and no more.
import { connect, createServer, type Server, type Socket } from "node:net";

const tickMs = 20;

export class SlowLink implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(host: string, port: number, bytesPerSecond: number) {
    this.#server = createServer(near => {
      const far = connect(port, host);
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => void this.#sockets.delete(socket));
      }
      slowly(near, far, bytesPerSecond);
      slowly(far, near, bytesPerSecond);
    });
  }

  /** Returns the address to use instead of the server's. */
  static async to(url: string, bytesPerSecond: number): Promise<{ link: SlowLink; url: string }> {
    const address = new URL(url);
    const link = new SlowLink(address.hostname, Number(address.port), bytesPerSecond);
    await new Promise<void>(resolve => link.#server.listen(0, "127.0.0.1", resolve));
    address.port = String((link.#server.address() as { port: number }).port);
    return { link, url: address.href };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise(resolve => this.#server.close(resolve));
  }
}

function slowly(from: Socket, to: Socket, bytesPerSecond: number): void {
  const most = Math.ceil((bytesPerSecond * tickMs) / 1000);
  const timer = setInterval(() => {
    const chunk = from.read(Math.min(most, from.readableLength)) as Buffer | null;
    if (chunk !== null) to.write(chunk);
  }, tickMs);
  from.on("readable", () => {}); // it is read only when it is time
  from.on("close", () => {
    clearInterval(timer);
    to.destroy();
  });
}
