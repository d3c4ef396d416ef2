// Anchors of headings, for the site and for the check of links in Markdown.

/** The anchor that GitHub gives a heading. */
export function slug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-");
}
