// A socket that shows that its process is alive. The kernel closes it when the process ends, and every process on the
// machine can reach it through the file system, whatever its namespace: connecting succeeds while the process lives
// and is refused afterwards. Node cannot lock files; it can do this.
//
// A process that stays connected learns of the end at once.
import { connect, createServer, type Server } from "node:net";
import { Worker } from "node:worker_threads";
import { clock } from "../../clock.ts";
import { sys } from "../disk/syscalls.ts";
import { Handle } from "../handle.ts";
import { socketPath } from "../system/socket-path.ts";
import { onWindows } from "../windows-path.ts";

const answerMs = 2000;
const rememberMs = 1000;
const rememberBrieflyMs = 100; // callers that wait for a lock ask again and again

export class LivenessSocket {
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Opens one in a held directory; undefined if the file system has no sockets. */
  static listen(directory: Handle, name: string): LivenessSocket | undefined {
    const path = socketPath(directory, name);
    const server = createServer(socket =>
      socket
        .on("error", () => {})
        .resume()
        .unref(),
    );
    server.on("error", () => {}).unref();
    server.listen({ path, exclusive: true }); // binds synchronously; only failures arrive later
    if (onWindows || sys.lstat(directory.below(name))?.isSocket()) return new LivenessSocket(server);
    server.close();
    return undefined;
  }

  /** Closes it. The file stays until the remains of the process are removed. */
  close(): void {
    this.#server.close();
  }
}

/** Sockets that were closed. Each name is used once, so none of them ever listens again. */
const ended = new Set<string>();
const listening = new Map<string, number>();

/** Whether a socket accepts connections; undefined if that cannot be determined. */
export async function isListening(directory: string, name: string): Promise<boolean | undefined> {
  if (ended.has(name)) return false;
  const since = listening.get(name);
  if (since !== undefined && clock() - since < rememberBrieflyMs) return true;
  using held = opened(directory);
  if (held === undefined) return undefined;
  const path = socketPath(held, name);
  const answer = await new Promise<boolean | undefined>(resolve => {
    const socket = connect({ path });
    const finish = (told: boolean | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(told);
    };
    const timer = setTimeout(() => finish(undefined), answerMs);
    socket.on("connect", () => finish(true));
    socket.on("error", error => finish(meaningOf((error as NodeJS.ErrnoException).code, onWindows)));
  });
  return noted(name, answer);
}

/** The same for a caller that cannot wait: a thread asks, for some milliseconds. It is remembered for a moment. */
export function isListeningNow(directory: string, name: string): boolean | undefined {
  if (ended.has(name)) return false;
  const since = listening.get(name);
  if (since !== undefined && clock() - since < rememberMs) return true;
  using held = opened(directory);
  if (held === undefined) return undefined;
  const answer = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { path: socketPath(held, name), isPipe: onWindows, answer };
  const worker = new Worker(source, { eval: true, stdin: false, workerData });
  worker.on("error", () => {}).unref();
  Atomics.wait(answer, 0, 0, answerMs);
  return noted(name, ([undefined, true, false] as const)[answer[0] ?? 0]);
}

const source = `
const { workerData: { path, isPipe, answer } } = require("node:worker_threads");
const meaningOf = ${meaningOf};
const finish = told => {
  Atomics.store(answer, 0, told ? 1 : told === false ? 2 : 3);
  Atomics.notify(answer, 0);
  socket.destroy();
};
const socket = require("node:net").connect({ path });
socket.on("connect", () => finish(true));
socket.on("error", ({ code }) => finish(meaningOf(code, isPipe)));`;

/** A full backlog means that a live process is listening. The thread has a copy of this function, and nothing else. */
function meaningOf(code: string | undefined, isPipe: boolean): boolean | undefined {
  if (code === "ECONNREFUSED" || (code === "ENOENT" && isPipe)) return false;
  return code === "EAGAIN" ? true : undefined;
}

/** Windows may report a missing pipe while all its instances are busy: the report counts only once it persists. */
const suspected = new Map<string, number>();
const suspicionMs = 500;

function noted(name: string, told: boolean | undefined): boolean | undefined {
  const answer = told === false && onWindows && !isConfirmed(name) ? undefined : told;
  if (answer) suspected.delete(name);
  if (answer === false) {
    ended.add(name);
    listening.delete(name);
  } else if (answer) listening.set(name, clock());
  return answer;
}

function isConfirmed(name: string): boolean {
  const since = suspected.get(name) ?? clock();
  suspected.set(name, since);
  return clock() - since >= suspicionMs;
}

/** Whether a socket is known to be closed. */
export function hasEnded(name: string): boolean {
  return ended.has(name);
}

/**
 * Stays connected to a liveness socket, and calls `gone` once when the connection ends. Does not keep this process
 * alive. False if there is no such socket.
 */
export function watchSocket(directory: string, name: string, gone: () => void): boolean {
  using held = opened(directory);
  if (held === undefined || !(onWindows || sys.lstat(held.below(name))?.isSocket())) return false;
  const socket = connect({ path: socketPath(held, name) }); // connects at once; only the answer comes later
  let told = false;
  const tell = () => {
    if (told) return;
    told = true;
    socket.destroy();
    gone();
  };
  socket.on("error", error => {
    noted(name, meaningOf((error as NodeJS.ErrnoException).code, onWindows));
    tell();
  });
  socket.on("end", tell).on("close", tell).resume().unref();
  return true;
}

/** Opened each time: the directory may have been removed and created again. */
function opened(directory: string): Handle | undefined {
  try {
    return Handle.open(directory, { follow: false, directory: true });
  } catch {
    return undefined;
  }
}
