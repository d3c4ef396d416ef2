// The variables that a command starts with. The server's own hold secrets (tokens, keys, agent sockets) that no
// command needs, so a command gets what lets programs run and print, and nothing else.

import { onWindows } from "../workspace/windows-path.ts";

export type Environment = Readonly<Record<string, string>>;

const passed =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/;

/** What programs on Windows do not start without; names have no case there. */
const passedOnWindows =
  /^(Path|PATHEXT|SystemRoot|SystemDrive|windir|ComSpec|USERNAME|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|ProgramData|ProgramFiles(\(x86\))?|CommonProgramFiles|PROCESSOR_ARCHITECTURE|NUMBER_OF_PROCESSORS|OS|TEMP|TMP|TZ|NO_COLOR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/i;

/** What of `parent` may be passed on. Output goes to no terminal, so nothing should draw, page or ask. */
export function reducedEnvironment(parent: NodeJS.ProcessEnv = process.env): Environment {
  return {
    ...(onWindows ? {} : { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" }),
    ...Object.fromEntries(
      Object.entries(parent).filter((entry): entry is [string, string] =>
        (onWindows ? passedOnWindows : passed).test(entry[0]),
      ),
    ),
    TERM: "dumb",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
}
