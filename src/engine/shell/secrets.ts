// Paths where people keep keys, tokens, passwords and browser profiles. A confined command sees nothing outside the
// roots; these are absent even inside a root, for users who grant their whole home.

const belowHome: readonly string[] = [
  // keys and passwords
  ...[".ssh", ".gnupg", ".pki", ".password-store", ".local/share/keyrings", ".vault-token", ".config/op"],
  ...[".netrc", ".git-credentials", ".config/git/credentials", "Library/Keychains"],
  // clouds, registries, forges
  ...[".aws", ".azure", ".config/gcloud", ".oci", ".kube", ".docker/config.json", ".config/containers"],
  ...[
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
  ],
  ...[
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".terraform.d/credentials.tfrc.json",
    ".m2/settings.xml",
  ],
  // browsers and mail
  ...[".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware"],
  ...[".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium"],
  ...["Library/Application Support/Google/Chrome", "Library/Application Support/Firefox", "Library/Safari"],
  ...["Library/Cookies", "Library/Mail", "Library/Messages"],
  // what was typed
  ...[".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history"],
];

export function secretsOf(home: string): readonly string[] {
  return belowHome.map(path => `${home}/${path}`);
}
