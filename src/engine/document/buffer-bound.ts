// A bound on the buffers of a thread. The limits of a worker cover its heap; the bytes of buffers are outside it, and a
// stream of a few kilobytes unpacks to gigabytes of them.
import { getHeapStatistics } from "node:v8";

const typed = [
  "ArrayBuffer",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int8Array",
  "Uint16Array",
  "Int16Array",
  "Uint32Array",
  "Int32Array",
  "Float32Array",
  "Float64Array",
] as const;

/** Buffers smaller than this are not looked at: there would have to be very many. */
const small = 64 * 1024;

/**
 * From now on, the code of this thread cannot make a buffer that brings them to more than this many bytes. The
 * constructors fail as they do where the system has no memory. Call this before the code is loaded. The result tells
 * whether that has happened: the code may have caught the error.
 */
export function boundBuffers(most: number): { wasReached(): boolean } {
  let reached = false;
  const check = (bytes: number): void => {
    if (bytes < small || bytes + getHeapStatistics().external_memory <= most) return;
    reached = true;
    throw new RangeError("Array buffer allocation failed");
  };
  for (const name of typed) {
    const own = globalThis[name];
    const unit = "BYTES_PER_ELEMENT" in own ? own.BYTES_PER_ELEMENT : 1;
    const bounded: object = new Proxy<new (...given: never[]) => object>(own, {
      construct(target, given: readonly unknown[], made): object {
        check(bytesOf(given[0], unit));
        return Reflect.construct(target, given, made === bounded ? target : made);
      },
    });
    Object.defineProperty(globalThis, name, { value: bounded });
  }
  // Its buffers are made by Node, not by these constructors.
  Object.defineProperty(globalThis, "DecompressionStream", { value: undefined });
  return { wasReached: () => reached };
}

/** How many bytes a buffer of this size takes, or a copy of this list. A view of another buffer takes none. */
function bytesOf(given: unknown, unit: number): number {
  if (typeof given === "number") return given * unit;
  if (given === null || typeof given !== "object" || !("length" in given)) return 0;
  return typeof given.length === "number" ? given.length * unit : 0;
}
