/**
 * Older code runs on the same tables during a release and after a rollback, so migrations only expand the schema.
 * A later migration may remove something that no version reads any more, if a comment explains that.
 */

/** Text without keywords: comments, strings, and quoted names in every form that SQLite accepts. */
const OPAQUE =
  /--.*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g;

const CONTRACTING = /\b(?:drop|rename|delete\s+from|truncate)\b/gi;

const MARKER = /^[ \t]*--[ \t]*contraction:(.*)$/im;

/** The minimum number of words of a reason. */
const LEAST_WORDS = 3;

/**
 * The problem of a migration that removes something without a line `-- contraction: <why no version reads it>`;
 * `undefined` if there is none.
 */
export function contractionProblem(sql: string): string | undefined {
  const found = sql.replaceAll(OPAQUE, ' ').match(CONTRACTING);
  if (!found) return undefined;
  const marker = MARKER.exec(sql)?.[1];
  const words = marker?.split(/\s+/).filter((word) => /\w/.test(word)) ?? [];
  if (words.length >= LEAST_WORDS) return undefined;
  const what = [...new Set(found.map((word) => word.toUpperCase().replaceAll(/\s+/g, ' ')))].join(
    ', ',
  );
  return marker === undefined
    ? `removes something (${what}); that needs a line "-- contraction: <why no version reads it>"`
    : `its line "-- contraction:" does not explain why no version reads what it removes (${what})`;
}
