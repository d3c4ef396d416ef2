// The output of a command, within the size of an answer. Both streams share the space; output that does not fit is
// saved in a spill file, which the text names.
import { randomBytes } from "node:crypto";
import type { CallContext } from "../../contract/context.ts";
import { say } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { wholeCharacters } from "../../engine/shell/capture.ts";
import { truncation } from "./output.ts";
import { wording } from "./wording.ts";
import { writing } from "./writing.ts";

export interface StreamTexts {
  readonly stdout: string;
  readonly stderr: string;
}

type StreamName = keyof StreamTexts;

const folder = ".clarvis";

export class Streams {
  readonly #chunks: Record<StreamName, Buffer[]> = { stdout: [], stderr: [] };

  push(chunk: Buffer, stream: StreamName): void {
    this.#chunks[stream].push(chunk);
  }

  /** Both as text. A stream that is short leaves its room to the other. */
  async within(cap: number, call: CallContext): Promise<StreamTexts> {
    const stdout = Buffer.concat(this.#chunks.stdout);
    const stderr = Buffer.concat(this.#chunks.stderr);
    const half = Math.floor(cap / 2);
    const token = randomBytes(6).toString("hex");
    return {
      stdout: await shown(stdout, Math.max(half, cap - stderr.length), `bash-${token}.stdout.log`, call),
      stderr: await shown(stderr, Math.max(half, cap - stdout.length), `bash-${token}.stderr.log`, call),
    };
  }
}

async function shown(bytes: Buffer, room: number, name: string, call: CallContext): Promise<string> {
  if (bytes.length <= room) return bytes.toString("utf8");
  const head = bytes.subarray(0, room);
  const first = head.subarray(0, wholeCharacters(head));
  const saved = await spill(bytes, name, call);
  return `${first.toString("utf8")}\n${truncation(first.length, bytes.length, `; ${saved}`)}`;
}

/** Saves a stream in the workspace, ignored by git, and returns its path. The command has run in any case. */
async function spill(bytes: Buffer, name: string, call: CallContext): Promise<string> {
  const { workspace } = call;
  const path = `${folder}/${name}`;
  try {
    const ignore = workspace.at(`${folder}/.gitignore`);
    const log = { kind: "write", path: workspace.at(path), bytes, expect: "absent" } as const;
    await workspace.editAll(
      [ignore],
      ([present]) =>
        present?.bytes === undefined
          ? [{ kind: "write", path: ignore, bytes: Buffer.from("*\n"), expect: "absent" }, log]
          : [log],
      { ...writing(call), parents: true },
    );
    return `full output in ${path}`;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `the full output could not be saved: ${say(wording, error)}`;
  }
}
