// Waiting with a limit.

/** Resolves with the action, or after this time; then `late` is called, and the action continues. */
export async function orTooLate(action: Promise<void>, ms: number, late: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<void>(resolve => {
    timer = setTimeout(() => {
      late();
      resolve();
    }, ms).unref();
  });
  try {
    await Promise.race([action, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
