/** Programs that are started from now on use a directory on a disk, too, if there is one. */
export function useTemporaryDirectoryOnDisk(): void;
