// What counts as text in this contract, and the head line of a file: its lines, its size, anything unusual, and its
// version.
import { printable } from "../../contract/wording.ts";
import { Fault } from "../../engine/fault.ts";
import { lineCount } from "../../engine/text/count-breaks.ts";
import { isMarkedUtf32, isNoText } from "../../engine/text/detect.ts";
import { endingsIn } from "../../engine/text/endings.ts";
import { humanSize } from "../../engine/text/size.ts";
import { decode, type Text } from "../../engine/text/text.ts";
import { counted } from "./answer.ts";

/** The bytes of a file as text, in the encoding that is named or found out. */
export function textOf(path: string, bytes: Buffer, encoding?: string): Promise<Text> {
  refuseBinary(path, bytes, encoding);
  return decode(path, bytes, { encoding, ...decoding });
}

/** How every tool of this contract decodes a file. */
export const decoding = { legacy: true, strict: true } as const;

/** Naming an encoding declares a file to be text. UTF-32 is refused in any case. */
export function refuseBinary(path: string, bytes: Buffer, encoding?: string): void {
  if (isMarkedUtf32(bytes)) throw new Fault("binary", { path, encoding: "utf-32" });
  if (encoding === undefined && isNoText(bytes)) throw new Fault("binary", { path });
}

/** `src/a.ts · 120 lines · 3.4 KB · crlf · v:3f9a1c2b77d0` */
export function headLine(
  path: string,
  text: Text,
  version: string,
  { as, lines }: { readonly as?: string | undefined; readonly lines?: number } = {},
): string {
  const kind = as === undefined ? [] : [as];
  return [
    printable(path),
    ...kind,
    counted(lines ?? lineCount(text, "terminated"), "line"),
    humanSize(text.bytes.length),
    ...peculiarities(text),
    version,
  ].join(" · ");
}

/** Anything unusual: the encoding, a byte-order mark, the line endings. */
function peculiarities(text: Text): string[] {
  const found: string[] = [];
  if (text.codec.name !== "utf-8") found.push(text.codec.name);
  else if (text.mark) found.push("byte-order mark");
  if (!text.raw.isWellFormed()) found.push("some bytes are not text: name its encoding");
  if (text.doubt !== undefined) found.push(doubtOf(text.doubt));
  const endings = endingsIn(text);
  if (endings === "mixed") found.push("mixed line endings");
  else if (endings === "crlf" || endings === "cr") found.push(endings.toUpperCase());
  return found;
}

/** `encoding not certain: windows-1252, iso-8859-15` */
export function doubtOf(likely: readonly string[]): string {
  return `encoding not certain${likely.length === 0 ? "" : `: ${likely.join(", ")}`}`;
}
