/** The tables of the documents that follow from the code. `npm run openapi` writes them. */
import { ADVICE_ON, STATUS_OF } from '../src/errors.ts';
import { VERSION_PATH } from '../src/http/urls.ts';
import type { OperationDescription } from './operation.ts';
import type { Route } from './routes.ts';

type DescribedRoute = Route & { about: OperationDescription };

/** The path of a document, the name of the marks in it, and the text between them. */
type Part = [string, string, string];

export function documentParts(routes: DescribedRoute[]): Part[] {
  return [
    ['README.md', 'operations', operationsTable(routes)],
    ['docs/api.md', 'codes', codesTable()],
    ['docs/api.md', 'retries', retriesTable(routes)],
    ['client/README.md', 'methods', methodsTable(routes)],
  ];
}

/**
 * The document with this text between `<!-- name -->` and `<!-- /name -->`.
 *
 * @throws Error when the document has no such marks
 */
export function withPart(document: string, name: string, text: string): string {
  const part = new RegExp(`(?<=<!-- ${name} -->\n\n).*(?=\n<!-- /${name} -->)`, 's');
  if (!part.test(document)) throw new Error(`a document lacks the marks <!-- ${name} -->`);
  return document.replace(part, () => text);
}

/** What to do about each error code. */
export function codesTable(): string {
  const advice: Record<string, string> = ADVICE_ON;
  const rows = Object.entries(STATUS_OF).map(([name, status]) => [
    `${status}`,
    code(name),
    advice[name] ?? '',
  ]);
  return tableOf(['status', '`code`', 'what to do'], rows);
}

function operationsTable(routes: DescribedRoute[]): string {
  const rows = routes.map((route) => [
    code(route.definition.operationId),
    code(`${route.method.toUpperCase()} ${VERSION_PATH}${route.path}`),
    route.definition.scope ?? 'none',
    stabilityOf(route),
  ]);
  return tableOf(['operation', 'request', 'scope', 'stability'], rows);
}

function stabilityOf({ definition, about }: DescribedRoute): string {
  const stability = about['x-stability'] ?? 'stable';
  return definition.deprecation ? `${stability}, deprecated` : stability;
}

/** Which requests to retry. */
export function retriesTable(routes: DescribedRoute[]): string {
  const safe = routes.filter((route) => route.about.retryReason && retryReason(route));
  const unsafe = routes.filter((route) => !retryReason(route));
  const names = ['GET', 'DELETE', ...safe.map(({ definition }) => definition.operationId)];
  const rows = [
    [names.map(code).join(', '), 'Retry.', 'Retry.'],
    ['`POST` with an `Idempotency-Key`', 'Retry.', 'Retry with the same idempotency key and body.'],
    [
      '`POST` without an `Idempotency-Key`',
      'Retry.',
      'List first: the request may have been carried out.',
    ],
    ...unsafe.map(({ definition: { operationId, effect } }) => [
      code(operationId),
      'Retry.',
      // Such as `the animal`, of `the animal was changed`.
      `Fetch ${effect?.split(' was ')[0]} first: a retry can overwrite changes of other clients.`,
    ]),
  ];
  return tableOf(['request', 'after a 429', 'after a 500, a 503 or no response'], rows);
}

/** The methods of the client. */
function methodsTable(routes: DescribedRoute[]): string {
  const rows = routes.map((route) => [
    code(route.definition.operationId),
    code(`${route.method.toUpperCase()} ${route.path}`),
    retryReason(route) ? 'yes' : 'no',
    stabilityOf(route),
  ]);
  const head = ['method', 'request', 'retried after a 5xx or no response', 'stability'];
  return tableOf(head, rows);
}

/** Why the client retries the requests of an operation; `undefined` if it does not. */
function retryReason({ method, definition, about }: DescribedRoute): string | undefined {
  const { operationId, scope, acceptsIdempotencyKey, safeRetry, errors = [] } = definition;
  if (scope !== 'write') return 'It changes nothing.';
  if (acceptsIdempotencyKey)
    return 'With its `Idempotency-Key`, the request is carried out at most once.';
  if (!safeRetry) return undefined;
  if (method === 'delete') {
    const notFound = errors.find((each) => STATUS_OF[each] === 404);
    return `Ids are never reused. If an attempt may have been carried out, \`${notFound}\` then counts as success.`;
  }
  if (!about.retryReason) throw new Error(`the description of ${operationId} has no retryReason`);
  return about.retryReason;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** A table in Markdown, with columns of equal width. */
function tableOf(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  );
  const rule = widths.map((width) => '-'.repeat(width));
  const lines = [head, rule, ...rows].map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | '),
  );
  return lines.map((line) => `| ${line} |\n`).join('');
}
