// Waits for Ctrl-C, or for whoever started the program to end it.

export async function untilSignal(): Promise<void> {
  await new Promise<void>(resolve => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
