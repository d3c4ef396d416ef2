// Enough of WebAssembly's binary format for a few short functions over one memory, so that what runs can be read
// here and no binary has to be trusted. Instructions are put down in the order in which a stack machine takes them:
// `[...get(a), ...get(b), i32.add]`.

/** Instructions, or anything else in the binary format. */
export type WasmCode = readonly number[];

/** A function: its parameters come first among its local variables. All but `vectors` are 32-bit integers. */
interface Routine {
  readonly parameters: number;
  readonly integers: number;
  /** Local variables of 16 bytes; they come last. */
  readonly vectors: number;
  /** The value on the stack at the end is the result: a 32-bit integer. */
  readonly body: WasmCode;
}

export const i32 = {
  eqz: 0x45,
  eq: 0x46,
  ne: 0x47,
  gt: 0x4b,
  le: 0x4d,
  ge: 0x4f,
  ctz: 0x68,
  add: 0x6a,
  and: 0x71,
  or: 0x72,
  shl: 0x74,
  shr: 0x76,
} as const;

/** On 16 bytes at a time, lane by lane. */
export const bytes16 = {
  splat: vector(15),
  eq: vector(35),
  lt: vector(38),
  bitmask: vector(100),
  sub: vector(113),
  or: vector(80),
} as const;

/** Sums of a vector: its bytes into four integers, four integers with four others, and one lane. */
export const addUpBytes: WasmCode = [...vector(125), ...vector(127)];
export const addFour: WasmCode = vector(174);
export const oneOfFour = (lane: number): WasmCode => [...vector(27), lane];

export const load16Bytes: WasmCode = [...vector(0), 0, 0];
export const store16Bytes: WasmCode = [...vector(11), 0, 0];

export const get = (local: number): WasmCode => [0x20, ...unsigned(local)];
export const set = (local: number): WasmCode => [0x21, ...unsigned(local)];
export const tee = (local: number): WasmCode => [0x22, ...unsigned(local)];
export const value = (integer: number): WasmCode => [0x41, ...signed(integer)];
export const loadByte = (offset = 0): WasmCode => [0x2d, 0, ...unsigned(offset)];
export const storeByte = (offset = 0): WasmCode => [0x3a, 0, ...unsigned(offset)];
export const storeTwoBytes = (offset = 0): WasmCode => [0x3b, 0, ...unsigned(offset)];

/** Adds to a local variable. */
export const increase = (local: number, by: WasmCode): WasmCode => [
  ...get(local),
  ...by,
  i32.add,
  ...set(local),
];

/** `branch(0)` inside goes after it; one more for each block, loop or condition in between. */
export const block = (...code: WasmCode[]): WasmCode => [0x02, 0x40, ...code.flat(), 0x0b];
/** `branch(0)` inside goes to its beginning. */
export const loop = (...code: WasmCode[]): WasmCode => [0x03, 0x40, ...code.flat(), 0x0b];
export const when = (condition: WasmCode, code: WasmCode, otherwise: WasmCode = []): WasmCode => [
  ...condition,
  0x04,
  0x40,
  ...code,
  ...(otherwise.length === 0 ? [] : [0x05, ...otherwise]),
  0x0b,
];
export const branch = (blocks: number): WasmCode => [0x0c, blocks];
export const branchIf = (condition: WasmCode, blocks: number): WasmCode => [...condition, 0x0d, blocks];

/** The bytes of a module that exports its memory (`memory`) and functions. */
export function assemble(
  pages: number,
  routines: Readonly<Record<string, Routine>>,
  data: Uint8Array = new Uint8Array(0),
): Uint8Array<ArrayBuffer> {
  const all = Object.values(routines);
  const names = Object.keys(routines);
  const types = all.map(({ parameters }) => [0x60, ...list(Array(parameters).fill([0x7f])), 1, 0x7f]);
  const exported = names.map((name, i) => [...text(name), 0, ...unsigned(i)]);
  const bodies = all.map(({ integers, vectors, body }) => {
    const locals = list([
      [...unsigned(integers), 0x7f],
      [...unsigned(vectors), 0x7b],
    ]);
    return sized([...locals, ...body, 0x0b]);
  });
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(3, list(all.map((_, i) => unsigned(i)))),
    ...section(5, list([[0, ...unsigned(pages)]])),
    ...section(7, list([[...text("memory"), 2, 0], ...exported])),
    ...section(10, list(bodies)),
    ...section(11, list([[0, ...value(0), 0x0b, ...sized([...data])]])),
  ]);
}

function vector(instruction: number): WasmCode {
  return [0xfd, ...unsigned(instruction)];
}

function section(id: number, content: WasmCode): WasmCode {
  return [id, ...sized(content)];
}

function list(items: readonly WasmCode[]): WasmCode {
  return [...unsigned(items.length), ...items.flat()];
}

function sized(content: WasmCode): WasmCode {
  return [...unsigned(content.length), ...content];
}

function text(name: string): WasmCode {
  return sized([...Buffer.from(name)]);
}

/** Seven bits in each byte, the lowest first; the eighth says that more follow. */
function unsigned(number: number): WasmCode {
  return number < 0x80 ? [number] : [(number & 0x7f) | 0x80, ...unsigned(number >>> 7)];
}

function signed(number: number): WasmCode {
  const low = number & 0x7f;
  const rest = number >> 7;
  const done = (rest === 0 && low < 0x40) || (rest === -1 && low >= 0x40);
  return done ? [low] : [low | 0x80, ...signed(rest)];
}
