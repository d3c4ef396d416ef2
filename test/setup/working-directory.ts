// The tests' own processes may change their working directory, as the program does where /proc is hidden. A library may
// not: POLYFS_TEST_AS=library tests how it works then.
import { takeWorkingDirectory } from "../../src/engine/workspace/system/entered-directory.ts";

if (process.env.POLYFS_TEST_AS !== "library") takeWorkingDirectory();
