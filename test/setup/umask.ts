// Tests compare modes of new files. Where users have groups of their own, the usual umask is 002.
process.umask(0o022);
