// macOS refuses some folders (Desktop, Documents, Downloads, other programs' data) to programs that the person has not
// let in, whatever the permissions of the files say. It answers EPERM then, where a missing permission is EACCES.
export function isRefusedForPrivacy(errno: string): boolean {
  return errno === "EPERM" && process.platform === "darwin";
}
