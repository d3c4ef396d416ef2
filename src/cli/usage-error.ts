// A mistake of the person who starts the program, as one line. The program then exits with code 2.

export class UsageError extends Error {
  override readonly name = "UsageError";
}
