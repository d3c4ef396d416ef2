// The variables that a command starts with. The server's own hold secrets (tokens, keys, agent sockets) that no
// command needs, so a command gets what lets programs run and print, and nothing else.

export type Environment = Readonly<Record<string, string>>;

const passed =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|TMPDIR|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR)$/;

/** What of `parent` may be passed on. Output goes to no terminal, so nothing should draw, page or ask. */
export function reducedEnvironment(parent: NodeJS.ProcessEnv = process.env): Environment {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "C.UTF-8",
    ...Object.fromEntries(
      Object.entries(parent).filter((entry): entry is [string, string] => passed.test(entry[0])),
    ),
    TERM: "dumb",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_TERMINAL_PROMPT: "0",
  };
}
