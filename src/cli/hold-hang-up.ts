// SIGHUP during the start of a server. Its default is to end the process, also one that would only read its files again:
// a supervisor may send it at any time. So it waits until the server listens for it.

const againMs = 20;

/** To be called first. */
export function holdHangUp(): void {
  process.on("SIGHUP", signal => {
    if (process.listenerCount(signal) === 1) setTimeout(() => process.emit(signal, signal), againMs).unref();
  });
}

/** A command has no files to read again, and ends as usual. */
export function letHangUp(): void {
  process.removeAllListeners("SIGHUP");
}
