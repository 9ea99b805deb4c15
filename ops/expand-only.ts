/**
 * What a migration must not do while older code runs on the same tables: during a release, and after a
 * rollback. What it reads must stay, so migrations only expand; what nothing reads any more is taken away
 * by a later one that says so.
 */

/** What is no SQL: comments, texts, and names in quotes of any kind that SQLite takes. */
const OPAQUE =
  /--.*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/g;

const CONTRACTING = /\b(?:drop|rename|delete\s+from|truncate)\b/gi;

const MARKER = /^[ \t]*--[ \t]*contraction:(.*)$/im;

/** A reason of fewer words is none. */
const LEAST_WORDS = 3;

/**
 * Why a migration may not run, or `undefined` when it may: it takes something away, and has no line
 * `-- contraction: <why nothing reads it any more>`.
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
    ? `it would contract (${what}): only a later migration may, with a line "-- contraction: <why nothing reads it any more>"`
    : `its line "-- contraction:" does not explain why nothing reads any more what it takes away (${what})`;
}
