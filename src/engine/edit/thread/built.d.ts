// What the build makes of this folder: the thread's program.
declare module "#text" {
  /** The path of the program's file. */
  export const program: string;
}
