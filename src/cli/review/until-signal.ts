// Waits for Ctrl-C or a signal to end.

/** With `onHangUp`, SIGHUP calls that and ends nothing. */
export async function untilSignal(onHangUp?: () => void): Promise<void> {
  await new Promise<void>(resolve => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
    process.on("SIGHUP", onHangUp ?? (() => resolve()));
  });
}
