// Where the build puts the program of the thread that reads PDFs.
declare module "#pdf" {
  export const program: string;
}
