// Files whose contents programs outside the sandbox run or obey later, without being asked: hooks, task lists,
// settings of editors and assistants, what shells read at their start. A command that changes one of these
// reaches beyond its own life, and whoever reads the answer should know.

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

/** Whether what stands in the file at `path` may be run, or obeyed, by something else later. */
export function actsLater(path: string): boolean {
  return patterns.some(pattern => pattern.test(path)) && !/(^|\/)\.git\/hooks\/[^/]*\.sample$/.test(path);
}
