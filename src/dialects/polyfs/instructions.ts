// Instructions for the model: what it cannot guess from the tools' descriptions.

export const instructions = `Files in the served directories (list_roots). Paths: absolute, relative to the first root, ~/… or file://….

Versions: reads, searches and changes name a file's version (v:3f9a1c2b77d0). Pass the one you read as if_version: if the file changed since, your edit is merged onto it, and refused (stale) only if the same lines changed; the error shows them. read_file with since returns "unchanged" or only the difference: use it instead of reading again.

Editing: prefer edit_file. Put all edits of a file into one call: they are applied together or not at all, and all refer to the file as you read it, so line numbers need no correction. old must match exactly once; leave out the "12: " of read_file. The answer says if an edit matched only by ignoring whitespace, and shows the diff: no need to read the file again. For the same change in many files use replace_in_files, for prepared patches apply_patch; both take dry_run. Encodings and marks (BOM) are kept, line endings by edits; send \\n.

Structure: read_file with outline shows a file's declarations with their lines; path takes file:10-40 for lines and file#Class.method for a declaration. search_text with kind: definition or reference finds names in code. edit_file with symbol replaces a declaration; replace_in_files with match: name renames one thing and lists the places it is not sure of. Answers to changes report new syntax errors.

Undo: every change by any tool, deletes and commands included, can be undone: undo reverts your last change, the next undo the one before it; list_changes shows ids, and with diff: true numbered hunks, which undo also accepts. Later edits elsewhere in the same files stay.

Finding: find_files for names, search_text for contents (output: files or count to get an overview first), list_directory with depth for structure. Git-ignored files are left out unless ignored is true. PDFs are read, not searched.

Answers stop at a whole line and end with [how to go on], such as offset=2001. Errors begin with a code; the next line says what to do.`;
