// Writing to a stream and waiting until it is out: the program ends right after.

export function print(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise(resolve => stream.write(text, () => resolve()));
}
