// Another writer changed what a commit had found before the commit could act. Nothing was applied, and the commit
// starts over; a caller sees `changed_meanwhile` only if that does not help.
export class ConcurrentChange extends Error {
  readonly path: string;

  constructor(path: string) {
    super("overtaken");
    this.path = path;
  }
}

/** The file system does not rename this directory; it can be copied and removed. */
export class NotRenamable extends ConcurrentChange {}

/** The state directory cannot hold old content; it can be kept beside its target instead. */
export class AsideRefused extends ConcurrentChange {}
