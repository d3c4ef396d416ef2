// The author of commits. A confined command has an empty home directory, and thus none of the user's Git
// configuration, which may name credential stores and programs to run. It gets one with the user's name and address
// that trusts every directory.
import { reducedEnvironment } from "./environment.ts";
import { startProcess } from "./process.ts";

export interface GitIdentity {
  readonly name?: string;
  readonly email?: string;
}

/** The user's global setting; empty if there is none, or no Git. */
export async function gitIdentity(): Promise<GitIdentity> {
  const [name, email] = await Promise.all([setting("user.name"), setting("user.email")]);
  return { ...(name === undefined ? {} : { name }), ...(email === undefined ? {} : { email }) };
}

/** The contents of the private `~/.gitconfig`. */
export function gitConfiguration({ name, email }: GitIdentity): string {
  const user = [
    ...(name === undefined ? [] : [`\tname = ${quoted(name)}\n`]),
    ...(email === undefined ? [] : [`\temail = ${quoted(email)}\n`]),
  ];
  return `[safe]\n\tdirectory = *\n${user.length === 0 ? "" : `[user]\n${user.join("")}`}`;
}

function quoted(value: string): string {
  return `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", " ")}"`;
}

async function setting(key: string): Promise<string | undefined> {
  try {
    const git = await startProcess("git", ["config", "--global", "--get", key], {
      cwd: "/",
      env: reducedEnvironment(),
    });
    let value = "";
    for await (const chunk of git.output) value += chunk.toString("utf8");
    return (await git.exit).code === 0 ? value.trim() : undefined;
  } catch {
    return undefined;
  }
}
