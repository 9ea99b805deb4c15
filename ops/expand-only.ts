/**
 * During a release and after a rollback, older code runs on the same tables, so migrations only expand the schema. A
 * migration may contract it, if a comment explains why no version reads what it removes.
 */

/** Text that cannot contain keywords: comments, strings, and quoted names in every form that SQLite accepts. */
const OPAQUE =
  /--.*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g;

const CONTRACTING = /\b(?:drop|rename|delete\s+from|truncate)\b/gi;

const MARKER = /^[ \t]*--[ \t]*contraction:(.*)$/im;

/** The minimum number of words of a reason. */
const MIN_WORDS = 3;

/**
 * The problem of a migration that contracts the schema without a line `-- contraction: <why no version reads it>`, or
 * `undefined`.
 */
export function contractionProblem(sql: string): string | undefined {
  const found = sql.replaceAll(OPAQUE, ' ').match(CONTRACTING);
  if (!found) return undefined;
  const marker = MARKER.exec(sql)?.[1];
  const words = marker?.split(/\s+/).filter((word) => /\w/.test(word)) ?? [];
  if (words.length >= MIN_WORDS) return undefined;
  const what = [...new Set(found.map((word) => word.toUpperCase().replaceAll(/\s+/g, ' ')))].join(
    ', ',
  );
  return marker === undefined
    ? `contracts the schema (${what}), which needs a line "-- contraction: <why no version reads it>"`
    : `the line "-- contraction:" must explain why no version reads what is removed (${what})`;
}
