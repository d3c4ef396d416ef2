// The tests' own processes may change their working directory, as the program does where /proc is hidden.
import { takeWorkingDirectory } from "../../src/engine/workspace/system/working-directory.ts";

takeWorkingDirectory();
