// Writing to a stream and waiting until it is out, because the program ends right after. A reader that has gone
// away (`polyfs --help | head -1`) is no error.

export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise(resolve => {
    stream.once("error", () => resolve());
    stream.write(text, () => resolve());
  });
}
