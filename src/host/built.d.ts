// Where the build puts the review page.
declare module "#review" {
  export const program: string;
}
