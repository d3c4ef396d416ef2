// Something that listens where PostgreSQL should be, and answers garbage, too little, or nothing: the store says that it
// is not available, in time, and the process goes on.
import { randomBytes } from "node:crypto";
import { createServer, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Connections } from "../../src/engine/store/postgres/connection.ts";

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};
const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const ready = message("Z", Buffer.from("I"));
const welcome = Buffer.concat([message("R", int32(0)), ready]);
const column = Buffer.concat([
  Buffer.from("one\0"),
  int32(0),
  int16(0),
  int32(25),
  int16(-1),
  int32(-1),
  int16(0),
]);
const described = message("T", Buffer.concat([int16(1), column]));
const row = message("D", Buffer.concat([int16(1), int32(1), Buffer.from("1")]));
const done = message("C", Buffer.from("SELECT 1\0"));
const prepared = [message("1", Buffer.alloc(0)), message("2", Buffer.alloc(0))];
const answer = Buffer.concat([...prepared, described, row, done, ready]);

/** The first question is answered, as `Connections.open` needs it; the next one gets `garbage`. */
async function withServer(
  garbage: (socket: Socket) => void,
  use: (url: string) => Promise<void>,
): Promise<void> {
  const sockets = new Set<Socket>();
  let questions = 0;
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on("error", () => {});
    let greeted = false;
    socket.on("data", () => {
      if (!greeted) {
        greeted = true;
        return void socket.write(welcome);
      }
      if (questions++ === 0) return void socket.write(answer);
      garbage(socket);
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  try {
    await use(`postgres://polyfs@127.0.0.1:${port}/postgres?sslmode=disable`);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise(resolve => server.close(resolve));
  }
}

const garbages: Readonly<Record<string, (socket: Socket) => void>> = {
  "nothing, for ever": () => {},
  "the beginning of a row, and then nothing": socket =>
    void socket.write(answer.subarray(0, answer.length - 20)),
  "random bytes": socket => void socket.write(randomBytes(4096)),
  zeros: socket => void socket.write(Buffer.alloc(4096)),
  "a message of two gigabytes": socket =>
    void socket.write(Buffer.concat([Buffer.from("D"), int32(0x7fffffff)])),
  "a message of negative length": socket => void socket.write(Buffer.concat([Buffer.from("D"), int32(-5)])),
  "rows that were not described": socket => void socket.write(Buffer.concat([row, row, done, ready])),
  "a row with a million columns": socket =>
    void socket.write(
      Buffer.concat([described, message("D", Buffer.concat([int16(32767), int32(1)])), ready]),
    ),
  "the page of a web server": socket => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n<html></html>"),
  "an error without fields": socket =>
    void socket.write(Buffer.concat([message("E", Buffer.from("\0")), ready])),
  "an unsolicited copy": socket =>
    void socket.write(Buffer.concat([message("G", Buffer.from([0, 0, 0])), ready])),
  "the end of the connection": socket => void socket.destroy(),
};

describe("garbage in place of PostgreSQL", () => {
  it.each(Object.entries(garbages))("%s", async (_, garbage) => {
    const uncaught: unknown[] = [];
    const note = (error: unknown) => void uncaught.push(error);
    process.on("uncaughtException", note);
    try {
      await withServer(garbage, async url => {
        await using connections = await Connections.open(url, { patienceMs: 1000 });
        const asked = connections.query("select 1 as one").then(
          rows => rows,
          (error: unknown) => error,
        );
        const result = await asked;
        if (Array.isArray(result)) expect(result.length).toBeLessThan(3);
        else expect(result).toMatchObject({ code: "store_unavailable" });
      });
    } finally {
      process.off("uncaughtException", note);
    }
    expect(uncaught).toEqual([]);
  });
});
