// Waits for Ctrl-C or a signal to end.

export async function untilSignal(): Promise<void> {
  await new Promise<void>(resolve => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
