/** The table of the error codes, in docs/api.md and in the description. */
import { ADVICE_ON, STATUS_OF } from '../src/errors.ts';

/** A table in Markdown, with columns of equal width. */
export function codesTable(): string {
  const rows = Object.entries(ADVICE_ON).map(([code, advice]) => {
    const status = STATUS_OF[code as keyof typeof STATUS_OF];
    return [`${status}`, `\`${code}\``, advice];
  });
  const head = ['status', '`code`', 'what to do'];
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const rule = widths.map((width) => '-'.repeat(width));
  const lines = [head, rule, ...rows].map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | '),
  );
  return lines.map((line) => `| ${line} |\n`).join('');
}

/**
 * The document with the table between `<!-- codes -->` and `<!-- /codes -->`.
 *
 * @throws Error when the document has no such marks
 */
export function withCodesTable(document: string): string {
  const part = /(?<=<!-- codes -->\n\n).*(?=\n<!-- \/codes -->)/s;
  if (!part.test(document)) throw new Error('docs/api.md lacks the marks <!-- codes -->');
  return document.replace(part, codesTable);
}
