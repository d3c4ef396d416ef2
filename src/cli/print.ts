// Writes to a stream and waits until the text is out, because the program ends right after. Output that could not be
// written (a closed pipe, a full disk) is a failure: a script must not mistake half an answer for a whole one.
import { OutputError } from "./output-error.ts";

export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // The stream reports a failure twice: to the callback, and then as an event that must have a listener.
    const ignore = () => {};
    stream.once("error", ignore);
    stream.write(text, error => {
      if (error === null || error === undefined) {
        stream.off("error", ignore);
        resolve();
      } else if (stream === process.stderr) resolve();
      else reject(new OutputError(error));
    });
  });
}
