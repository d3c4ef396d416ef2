#!/usr/bin/env node
// The program: hands the process's arguments to main and ends with its code once everything is written.
import { main } from "./main.ts";

process.exitCode = await main(process.argv.slice(2), process.env);
