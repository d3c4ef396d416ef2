// The fault suite: breaks the machine under the server, and looks whether the files are whole.
import type { Suite } from "../suite.ts";

export const fault: Suite = {
  name: "fault",
  async run() {},
};
