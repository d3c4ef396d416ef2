// What the person who starts the program got wrong, as one line for them. The program then ends with code 2.

export class UsageError extends Error {
  override readonly name = "UsageError";
}
