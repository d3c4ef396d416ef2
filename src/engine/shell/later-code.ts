// Files that programs outside the sandbox run or read later without asking: hooks, task lists, settings of editors and
// assistants, shell start-up files. A command that changes one of these has an effect beyond its own run, and the
// answer should say so.

const patterns: readonly RegExp[] = [
  // Git runs hooks, and programs that its configuration names
  /(^|\/)\.git\/(hooks\/|config$|info\/attributes$|modules\/.*\/(hooks\/|config$))/,
  /(^|\/)\.(gitmodules|husky\/.*)$/,
  // directories in which editors, assistants, and build services keep what they obey
  /(^|\/)\.(vscode|idea|zed|cursor|claude|codex|gemini|continue|devcontainer|github|gitlab|circleci|fleet)\//,
  // settings in hidden files of their own: `.….json`, `.envrc`, `.npmrc`, `.gitlab-ci.yml`
  /(^|\/)\.[^/]+(\.jsonc?|\.toml|rc|rc\.[cm]?js|-ci\.yml)$/,
  /(^|\/)\.(bash_profile|bash_login|bash_logout|profile|zshenv|zprofile|zlogin|login|pam_environment)$/,
  /(^|\/)\.config\/(autostart|systemd|fish)\//,
];

/** Whether another program may later run or obey the file at `path`. */
export function actsLater(path: string): boolean {
  return patterns.some(pattern => pattern.test(path)) && !/(^|\/)\.git\/hooks\/[^/]*\.sample$/.test(path);
}
