// The program behind its entry: hands the process's arguments to main and ends with its code. It ends at once, so that
// nothing left open keeps a server alive after its client is gone; main has waited until everything is written.
import { askProgram } from "../engine/shell/ask-program.ts";
import { takeWorkingDirectory } from "../engine/workspace/system/entered-directory.ts";
import { askProgramsBy } from "../engine/workspace/system/this-machine.ts";
import { main } from "./main.ts";

takeWorkingDirectory(); // the process is ours
askProgramsBy(askProgram);

// A failure that main does not know ends the process with a stack trace, as any unhandled rejection does.
// Code that runs at the end, such as closing the audit log, reports its failure through process.exitCode.
main(process.argv.slice(2), process.env).then(code => process.exit(code === 0 ? process.exitCode : code));
