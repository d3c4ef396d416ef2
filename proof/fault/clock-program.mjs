// Loaded into a server before anything else: its clock shows the time of the machine plus what a file says, so that a
// test can make it jump while the server runs.
import { readFileSync } from "node:fs";

const RealDate = Date;
const now = () => {
  try {
    return RealDate.now() + Number(readFileSync(process.env.PROOF_CLOCK, "utf8"));
  } catch {
    return RealDate.now();
  }
};

globalThis.Date = class extends RealDate {
  constructor(...given) {
    super(...(given.length === 0 ? [now()] : given));
  }
  static now() {
    return now();
  }
};
