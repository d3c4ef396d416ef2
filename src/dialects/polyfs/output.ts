// The output of a command, within the size of an answer: its beginning and its end. The whole is saved in a file
// below `.polyfs`, ignored by Git.
import { randomBytes } from "node:crypto";
import type { CallContext } from "../../contract/context.ts";
import { Fault } from "../../engine/fault.ts";
import { savedOutput } from "../../engine/history/standing.ts";
import { wholeCharacters } from "../../engine/shell/capture.ts";
import { number } from "./answer.ts";
import { told } from "./failure.ts";
import { writing } from "./writing.ts";

const folder = ".polyfs";

export class CommandOutput {
  readonly #chunks: Buffer[] = [];

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  /** As text of about this many bytes: a third from the beginning, the rest from the end, at whole lines. */
  async within(room: number, call: CallContext): Promise<string> {
    const bytes = Buffer.concat(this.#chunks);
    if (bytes.length === 0) return "[no output]";
    if (bytes.length <= room) return bytes.toString("utf8").replace(/\n$/, "");
    const head = wholeLines(bytes.subarray(0, Math.floor(room / 3)));
    const rest = bytes.subarray(bytes.length - Math.floor((2 * room) / 3));
    const tail = rest.subarray(rest.indexOf(10) + 1 || firstWhole(rest));
    const left = bytes.length - head.length - tail.length;
    const saved = await save(bytes, call);
    return `${head.toString("utf8").replace(/\n$/, "")}\n[…${number(left)} bytes left out; ${saved}]\n${tail.toString("utf8").replace(/\n$/, "")}`;
  }
}

/** Up to the last line end or, without one, the last whole character. */
function wholeLines(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(10) + 1 || wholeCharacters(bytes));
}

function firstWhole(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at++;
  return at;
}

async function save(bytes: Buffer, call: CallContext): Promise<string> {
  const root = call.workspace.roots.find(({ access }) => access === "read-write");
  if (root === undefined) return "no root is writable, so they are not saved";
  const at = (name: string) => call.workspace.at(`${root.path}/${folder}/${name}`);
  const name = `output-${randomBytes(4).toString("hex")}.log`;
  const ignore = at(".gitignore");
  try {
    const log = { kind: "write", path: at(name), bytes, expect: "absent" } as const;
    const { client, connection } = call.session;
    await call.workspace
      .as({ action: savedOutput, client, connection })
      .editAll(
        [ignore],
        ([present]) =>
          present?.bytes === undefined
            ? [{ kind: "write", path: ignore, bytes: Buffer.from("*\n"), expect: "absent" }, log]
            : [log],
        writing(call),
      );
    return `all of it: ${root === call.workspace.roots[0] ? "" : `${root.path}/`}${folder}/${name}`;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `they could not be saved: ${told(error).split("\n")[0]}`;
  }
}
