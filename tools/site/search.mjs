// The search of the site: an index of words that is made with the pages, and the function that asks it. The browser
// runs the same function as the check of the site.

/** A section with its words: those of headings count more, and are not lost among those of the text. */
export function indexOf(sections) {
  const words = new Map();
  for (const [number, { title, heading, text }] of sections.entries()) {
    const weights = new Map();
    for (const word of wordsOf(text)) weights.set(word, Math.min((weights.get(word) ?? 0) + 1, 5));
    for (const word of wordsOf(heading)) weights.set(word, (weights.get(word) ?? 0) + 20);
    for (const word of wordsOf(title)) weights.set(word, (weights.get(word) ?? 0) + 3);
    for (const [word, weight] of weights) {
      const found = words.get(word) ?? [];
      found.push(number, weight);
      words.set(word, found);
    }
  }
  return {
    sections: sections.map(({ title, heading, address, text }) => [title, heading, address, excerpt(text)]),
    words: Object.fromEntries([...words].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** The sections that have every word of the query, as it is or as a beginning; the best first. */
export function search({ sections, words }, query, limit = 20) {
  let scores;
  for (const wanted of new Set(wordsOf(query))) {
    const found = new Map();
    for (const [word, pairs] of Object.entries(words)) {
      if (!word.startsWith(wanted)) continue;
      const share = word === wanted ? 1 : 0.4;
      for (let i = 0; i < pairs.length; i += 2) {
        if (scores !== undefined && !scores.has(pairs[i])) continue;
        found.set(pairs[i], Math.max(found.get(pairs[i]) ?? 0, pairs[i + 1] * share));
      }
    }
    for (const [section, score] of found) found.set(section, score + (scores?.get(section) ?? 0));
    scores = found;
  }
  return [...(scores ?? [])]
    .sort(([a, x], [b, y]) => y - x || a - b)
    .slice(0, limit)
    .map(([number]) => {
      const [title, heading, address, text] = sections[number];
      return { title, heading, address, text };
    });
}

function wordsOf(text) {
  return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function excerpt(text) {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= 160 ? line : `${line.slice(0, 157)}...`;
}
