// Failures on the list that this suite does not cause, and the tests that cover them, if any.
export const notRun: Readonly<Record<string, string>> = {
  R006: "power cuts have a suite of their own: npm run proof -- power",
  R007: "as R006",
  R008: "as R006",
  R009: "as R006",
  R021: "needs a FUSE file system that hangs",
  R022: "needs a FUSE file system that fails",
};
