// Somebody was faster: what a commit had found was changed before it could act. Nothing has happened, and it may
// start over; a caller sees this only as `changed_meanwhile`, when starting over does not help.
export class ConcurrentChange extends Error {
  readonly path: string;

  constructor(path: string) {
    super("overtaken");
    this.path = path;
  }
}

/** The file system does not rename this directory; it can be copied and removed. */
export class NotRenamable extends ConcurrentChange {}

/** The directory of the state that old content is kept in cannot take it; where it stood, it can be kept too. */
export class AsideRefused extends ConcurrentChange {}
