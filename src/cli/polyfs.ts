#!/usr/bin/env node
// The program: hands the process's arguments to main and ends with its code. It ends at once, so that nothing
// left open can keep a server alive whose client is gone; main has waited until everything is written.
import { main } from "./main.ts";

process.exit(await main(process.argv.slice(2), process.env));
