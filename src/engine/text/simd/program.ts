// Functions over many bytes, 16 at a time: escaping for JSON and counting line ends. Assembled and compiled on first
// use, in about a millisecond, so small texts never pay for it. Without support by the processor or the runtime there
// is no program, and callers use a fallback.
import { once } from "../../once.ts";
import {
  addFour,
  addUpBytes,
  assemble,
  block,
  branch,
  branchIf,
  bytes16,
  get,
  i32,
  increase,
  load16Bytes,
  loadByte,
  loop,
  oneOfFour,
  set,
  store16Bytes,
  storeByte,
  storeTwoBytes,
  tee,
  value,
  type WasmCode,
  when,
} from "./assembler.ts";

export interface Program {
  readonly memory: Buffer;
  /** Writes the bytes from `at` to `end` to `to`, escaped for a JSON string; returns the end. */
  escape(at: number, end: number, to: number): number;
  /** How many of the bytes from `at` to `end` are line ends (10). */
  countBreaks(at: number, end: number): number;
}

/** The usable memory, and the margin for whole vectors that are stored. */
export const memoryFrom = 512;
export const memoryTo = 16 * 65_536 - 16;

export const program = once(make);

// No declaration of it comes with Node's own.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => { readonly exports: Omit<Program, "memory"> & { readonly memory: { readonly buffer: ArrayBuffer } } };
};

function make(): Program | undefined {
  try {
    const bytes = assemble(16, { escape: escapeRoutine(), countBreaks: countRoutine() }, escapes());
    const {
      memory,
      escape: run,
      countBreaks: count,
    } = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
    return { memory: Buffer.from(memory.buffer), escape: run, countBreaks: count };
  } catch {
    return undefined;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const digits = 256; // the hexadecimal digits, after the table of escapes

/** For each byte the letter after the backslash, "u" for those without one, 0 for plain bytes. */
function escapes(): Uint8Array {
  const table = new Uint8Array(digits + 16).fill(0x75, 0, 0x20);
  for (const [byte, letter] of ["\bb", "\tt", "\nn", "\ff", "\rr", '""', "\\\\"].map(pair => [...pair]))
    table[byte?.charCodeAt(0) ?? 0] = letter?.charCodeAt(0) ?? 0;
  table.set(Buffer.from("0123456789abcdef"), digits);
  return table;
}

function escapeRoutine() {
  const [at, end, to, byte, letter, vector] = [0, 1, 2, 3, 4, 5];
  const special: WasmCode = [
    ...[...get(vector), ...value(quote), ...bytes16.splat, ...bytes16.eq],
    ...[...get(vector), ...value(backslash), ...bytes16.splat, ...bytes16.eq, ...bytes16.or],
    ...[...get(vector), ...value(0x20), ...bytes16.splat, ...bytes16.lt, ...bytes16.or],
  ];
  const body = [
    block(
      loop(
        when(
          [...get(at), ...value(16), i32.add, ...get(end), i32.le],
          [
            // All 16 are stored; those from the first special one on are written over.
            ...[...get(to), ...get(at), ...load16Bytes, ...tee(vector), ...store16Bytes],
            ...when(
              [...special, ...bytes16.bitmask, ...tee(byte), i32.eqz],
              [...increase(at, value(16)), ...increase(to, value(16)), ...branch(2)],
            ),
            ...increase(at, [...get(byte), i32.ctz, ...tee(byte)]),
            ...increase(to, get(byte)),
          ],
          branchIf([...get(at), ...get(end), i32.ge], 2),
        ),
        [...get(at), ...loadByte(), ...set(byte)],
        increase(at, value(1)),
        when(
          [...get(byte), ...loadByte(), ...tee(letter), i32.eqz],
          [...get(to), ...get(byte), ...storeByte(), ...increase(to, value(1)), ...branch(1)],
        ),
        [...get(to), ...value(backslash), ...get(letter), ...value(8), i32.shl, i32.or, ...storeTwoBytes()],
        increase(to, value(2)),
        branchIf([...get(letter), ...value(0x75), i32.ne], 0),
        [...get(to), ...value(0x3030), ...storeTwoBytes()],
        [...get(to), ...get(byte), ...value(4), i32.shr, ...loadByte(digits), ...storeByte(2)],
        [...get(to), ...get(byte), ...value(15), i32.and, ...loadByte(digits), ...storeByte(3)],
        increase(to, value(4)),
        branch(0),
      ),
    ),
    get(to),
  ];
  return { parameters: 3, integers: 2, vectors: 1, body: body.flat() };
}

function countRoutine() {
  const [at, end, count, stop, tally, total] = [0, 1, 2, 3, 4, 5];
  const isBreak: WasmCode = [...get(at), ...load16Bytes, ...value(10), ...bytes16.splat, ...bytes16.eq];
  const body = [
    block(
      loop(
        branchIf([...get(at), ...value(16), i32.add, ...get(end), i32.gt], 1),
        [...get(at), ...value(255 * 16), i32.add, ...set(stop)], // a byte counts to 255
        when([...get(stop), ...get(end), i32.gt], [...get(end), ...set(stop)]),
        [...value(0), ...bytes16.splat, ...set(tally)],
        loop(
          [...get(tally), ...isBreak, ...bytes16.sub, ...set(tally)], // equal lanes are -1
          increase(at, value(16)),
          branchIf([...get(at), ...value(16), i32.add, ...get(stop), i32.le], 0),
        ),
        [...get(total), ...get(tally), ...addUpBytes, ...addFour, ...set(total)],
        branch(0),
      ),
    ),
    block(
      loop(
        branchIf([...get(at), ...get(end), i32.ge], 1),
        increase(count, [...get(at), ...loadByte(), ...value(10), i32.eq]),
        increase(at, value(1)),
        branch(0),
      ),
    ),
    ...[0, 1, 2, 3].map(lane => increase(count, [...get(total), ...oneOfFour(lane)])),
    get(count),
  ];
  return { parameters: 2, integers: 2, vectors: 2, body: body.flat() };
}
