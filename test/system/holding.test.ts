// The suite of the ways to hold an object, on the one that this process uses: tools/check-platforms.mjs runs it where
// that is another one.
import { holdingSuite } from "./suite.ts";

holdingSuite();
