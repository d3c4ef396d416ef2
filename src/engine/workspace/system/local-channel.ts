// Messages between processes of one user on one machine: JSON, one message in a line, over a socket in a private
// directory (a named pipe on Windows).
import { connect, createServer, type Socket } from "node:net";
import { unlinkIfThere } from "../disk/if-there.ts";
import { sys } from "../disk/syscalls.ts";
import { Handle } from "../handle.ts";
import { onWindows } from "../windows-path.ts";
import { socketPath } from "./socket-path.ts";

const maxLineBytes = 16 * 1024 * 1024;
/** A reader that is this far behind is disconnected; it can connect again and catch up. */
const maxPendingBytes = 16 * 1024 * 1024;

export class LocalChannel {
  readonly #socket: Socket;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #closed = false;
  /** Called with each message. */
  onMessage: (message: unknown) => void = () => {};
  /** Called once, when the connection has ended or could not be made. */
  onClose: (error?: NodeJS.ErrnoException) => void = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    let failure: NodeJS.ErrnoException | undefined;
    socket.on("data", chunk => this.#take(chunk));
    socket.on("error", error => {
      failure = error;
    });
    socket.on("close", () => {
      this.#closed = true;
      this.onClose(failure);
    });
  }

  send(message: unknown): void {
    if (this.#closed) return;
    this.#socket.write(`${JSON.stringify(message)}\n`);
    if (this.#socket.writableLength > maxPendingBytes) this.#socket.destroy();
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Does not keep the process alive. */
  unref(): this {
    this.#socket.unref();
    return this;
  }

  #take(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const line = Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString("utf8");
      this.#rest = [];
      this.#restBytes = 0;
      start = end + 1;
      try {
        this.onMessage(JSON.parse(line));
      } catch {
        return void this.#socket.destroy();
      }
      if (this.#closed || this.#socket.destroyed) return;
    }
    if (start === chunk.length) return;
    this.#rest.push(chunk.subarray(start));
    this.#restBytes += chunk.length - start;
    if (this.#restBytes > maxLineBytes) this.#socket.destroy();
  }
}

/** Accepts connections at a name in a private directory, until it is disposed of. Undefined if that is impossible. */
export function listenLocally(
  directory: string,
  name: string,
  accept: (channel: LocalChannel) => void,
): Disposable | undefined {
  using held = opened(directory);
  if (held === undefined) return undefined;
  const path = socketPath(held, name);
  const server = createServer(socket => accept(new LocalChannel(socket.unref())));
  server.on("error", () => {}).unref();
  server.listen({ path, exclusive: true }); // binds at once; only a failure is reported later
  if (!onWindows && !sys.lstat(held.below(name))?.isSocket()) {
    server.close();
    return undefined;
  }
  return {
    [Symbol.dispose]() {
      server.close();
      if (onWindows) return;
      try {
        unlinkIfThere(`${directory}/${name}`);
      } catch {
        // The next process that finds it without a listener removes it.
      }
    },
  };
}

/** Connects to a name in a private directory; a failure is passed to `onClose`. */
export function connectLocally(directory: string, name: string): LocalChannel | undefined {
  using held = opened(directory);
  if (held === undefined) return undefined;
  return new LocalChannel(connect({ path: socketPath(held, name) })); // resolves the path at once
}

function opened(directory: string): Handle | undefined {
  try {
    return Handle.open(directory, { follow: false, directory: true });
  } catch {
    return undefined;
  }
}
