/**
 * The tables of operations, methods and error codes in the documents. `npm run openapi` writes each between the comments
 * `<!-- name -->` and `<!-- /name -->`.
 */
import { STATUS_OF } from '../src/errors.ts';
import { errorAdvice } from './advice.ts';
import type { DescribedOperation, ResourceDescription } from './describe.ts';
import { repetitionOf } from './repetitions.ts';

/** The tables by document and name. */
export function tablesOf(resources: ResourceDescription[]): Record<string, Record<string, string>> {
  return {
    'README.md': { operations: operationTable(resources), errors: errorTable(resources) },
    'client/README.md': { methods: methodTable(resources), codes: codeList() },
  };
}

/**
 * The text of a document with the tables.
 *
 * @throws Error when the document does not have the comments of a table.
 */
export function withTables(document: string, text: string, tables: Record<string, string>): string {
  let written = text;
  for (const [name, table] of Object.entries(tables)) {
    const between = new RegExp(`(<!-- ${name} -->\n)[^]*?(\n<!-- /${name} -->)`);
    if (!between.test(written)) throw new Error(`${document} has no <!-- ${name} -->`);
    written = written.replace(between, (_, start, end) => `${start}\n${table}\n${end}`);
  }
  return written;
}

type Row = { path: string; method: string; described: DescribedOperation };

function rowsOf(resources: ResourceDescription[]): Row[] {
  const paths = resources.flatMap((resource) => Object.entries(resource.paths));
  return paths.flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({ path, method, described })),
  );
}

/** Operations with the same path and stability share a row. */
function operationTable(resources: ResourceDescription[]): string {
  const withKey = rowsOf(resources).filter(({ described }) => described.scope);
  const groups = Map.groupBy(withKey, (row) => `${row.path} ${stabilityOf(row)}`);
  const rows = Array.from(groups.values(), (group) => {
    const [first] = group;
    const methods = group.map(({ method }) => method.toUpperCase());
    const names = group.map(({ described }) => `\`${described.operation.operationId}\``);
    const scopes = new Set(group.map(({ described }) => described.scope));
    return [
      names.join(', '),
      `\`${methods.join('`, `')} /v1${first?.path}\``,
      [...scopes].join(', '),
      first ? stabilityOf(first) : '',
    ];
  });
  return table(['operation', 'request', 'scope', 'stability'], rows);
}

function errorTable(resources: ResourceDescription[]): string {
  const rows = errorAdvice(resources).map(({ status, code, advice }) => [
    String(status),
    `\`${code}\``,
    advice,
  ]);
  return table(['status', '`code`', 'what to do'], rows);
}

/** The methods of the TypeScript client, which have the names of the operations. */
function methodTable(resources: ResourceDescription[]): string {
  const rows = rowsOf(resources).map((row) => {
    const { path, method, described } = row;
    const operationId = String(described.operation.operationId);
    const { isRepeated, reason } = repetitionOf(method, operationId);
    return [
      `\`${operationId}\``,
      `\`${method.toUpperCase()} ${path}\``,
      isRepeated ? 'yes' : 'no',
      reason,
      stabilityOf(row),
    ];
  });
  const head = ['method', 'request', 'retried after a 5xx or no response', 'reason', 'stability'];
  return table(head, rows);
}

function codeList(): string {
  return Object.keys(STATUS_OF)
    .map((code) => `\`${code}\``)
    .join(', ');
}

function stabilityOf({ described: { operation } }: Row): string {
  const stability = String(operation['x-stability'] ?? 'stable');
  return operation.deprecated ? `${stability}, deprecated` : stability;
}

/** A Markdown table with aligned columns. */
function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => row[i]?.length ?? 0)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const ruler = widths.map((width) => '-'.repeat(width));
  return [head, ruler, ...rows].map(line).join('\n');
}
