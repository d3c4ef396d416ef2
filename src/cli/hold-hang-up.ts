// Holds a SIGHUP that arrives while a server starts. The default action ends the process, but to a server SIGHUP means
// that it should reread its files, and a supervisor may send it at any time. It is delivered once the server listens.

const againMs = 20;

/** Call it before anything else. */
export function holdHangUp(): void {
  process.on("SIGHUP", signal => {
    if (process.listenerCount(signal) === 1) setTimeout(() => process.emit(signal, signal), againMs).unref();
  });
}

/** Restores the default for commands, which have no files to reread. */
export function letHangUp(): void {
  process.removeAllListeners("SIGHUP");
}
