// Turns of the event loop. Long work on the main thread is done in pieces, and between two pieces everything else
// runs, so that other calls are answered meanwhile.

/** Bytes or characters. Going once through fewer takes about a millisecond. */
const large = 1024 * 1024;

/** Paused work. One resumes in each turn, so that the pieces of several calls do not add up. */
const paused: (() => void)[] = [];

function resume(): void {
  paused.shift()?.();
  if (paused.length > 0) setImmediate(resume);
}

/** Resolves in a later turn. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => {
    if (paused.push(resolve) === 1) setImmediate(resume);
  });
}

/** Ends a piece of work over this many bytes or characters. A small one continues at once. */
export function turnAfter(size: number): Promise<void> | undefined {
  return size > large ? nextTurn() : undefined;
}
